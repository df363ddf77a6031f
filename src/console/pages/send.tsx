import { Alert, Group, Paper, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { isNotFound } from '../api.ts';
import type { SendDetail } from '../api.ts';
import { Back } from '../parts/back.tsx';
import { Empty } from '../parts/empty.tsx';
import { Failed } from '../parts/failed.tsx';
import { Frame } from '../parts/frame.tsx';
import { HandOffs } from '../parts/hand_offs.tsx';
import { Loading } from '../parts/paged.tsx';
import { PageTitle } from '../parts/page_title.tsx';
import { ProviderAnswer } from '../parts/provider_answer.tsx';
import { sourceInWords } from '../parts/reasons.ts';
import { SendActions } from '../parts/send_actions.tsx';
import { SendDecided } from '../parts/send_decided.tsx';
import { SendStatus } from '../parts/send_status.tsx';
import { inWords } from '../parts/statuses.ts';
import { titleOf, whyUnseen } from '../parts/untitled.ts';
import { When } from '../parts/when.tsx';
import { noticesOf, previewOf, send } from '../queries.ts';

const PREVIEW_HEIGHT_PX = 480;
const route = getRouteApi('/signed-in/p/$projectId/sends/$sendId');

const Card = ({ title, children }: { title: string; children: ReactNode }) => (
  <Paper withBorder p="md" component="section">
    <Title order={2} size="h5" mb="sm">
      {title}
    </Title>
    {children}
  </Paper>
);

const Feedback = ({ projectId, sendId }: { projectId: string; sendId: string }) => {
  const { data, isPending, error } = useQuery(noticesOf(projectId, sendId));
  if (isPending) return <Loading />;
  if (!data) return <Failed error={error} />;
  if (data.items.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        The provider has told nothing of it.
      </Text>
    );
  }
  return (
    <Stack gap="xs">
      {data.items.map((notice, at) => (
        <Group key={at} gap="xs" align="baseline">
          <Text size="sm" fw={600}>
            {inWords(notice.kind)}
            {notice.bounce_type !== null && ` (${notice.bounce_type})`}
          </Text>
          <Text size="sm" c="dimmed">
            by {sourceInWords(notice.source)}
          </Text>
          <When at={notice.occurred_at} />
          {notice.reason !== null && (
            <Text size="sm" className="breaks">
              {notice.reason}
            </Text>
          )}
        </Group>
      ))}
    </Stack>
  );
};

/** As its recipient got it, in a frame where nothing runs and nothing is loaded. */
const Preview = ({ projectId, sendId }: { projectId: string; sendId: string }) => {
  const { data, isPending, error } = useQuery(previewOf(projectId, sendId));
  if (isPending) return <Loading />;
  if (!data) return <Failed error={error} />;
  return (
    <Frame
      title="The message"
      src={data.path}
      style={{ width: '100%', height: PREVIEW_HEIGHT_PX, border: 0, background: '#ffffff' }}
    />
  );
};

const holds: Record<NonNullable<SendDetail['waits_for']>['because'], string> = {
  provider_parked: 'It waits: its provider is parked',
  circuit_open: 'It waits: its provider is left alone after failures',
  provider_paused: 'It waits: its provider takes nothing of this account for now',
  identical_refusals: 'It waits: its provider answers several recipients with the same refusal',
  provider_silent: 'It waits: its provider does not answer',
  retry: 'It waits for its next try',
  resend: 'It is sent again by itself',
  quiet_hours: 'It waits for the end of quiet hours',
  frequency_cap: 'It waits: the person has had enough mails for now',
  automation_paused: 'It waits: its automation is paused',
  unconfirmed_address: 'It waits for another email to this address',
  recipient_cap: 'It waits for another email to this recipient',
  unconfirmed_budget: 'It waits: the hourly budget for unconfirmed addresses is used',
  ramp: 'It waits: the warm-up of its provider has no room today',
  rate: 'It waits for its turn',
};

const Waiting = ({ waitsFor }: { waitsFor: NonNullable<SendDetail['waits_for']> }) => (
  <Alert
    color={waitsFor.because === 'provider_parked' ? 'red' : 'yellow'}
    title={holds[waitsFor.because]}
  >
    <Stack gap={4}>
      {waitsFor.reason !== null && waitsFor.reason !== waitsFor.because && (
        <Text size="sm">{inWords(waitsFor.reason)}</Text>
      )}
      <ProviderAnswer answer={waitsFor.answer} />
      <Text size="sm">{waitsFor.fix}</Text>
      {waitsFor.until !== null && (
        <Group gap={6}>
          <Text size="sm">Until</Text>
          <When at={waitsFor.until} />
        </Group>
      )}
    </Stack>
  </Alert>
);

/** Whether what to do about it is said nowhere else on the page. */
const isFixNews = ({ status, status_fix, waits_for }: SendDetail): boolean =>
  status !== 'unknown' && !waits_for?.fix.includes(status_fix ?? '');

const Known = ({ send: known, projectId }: { send: SendDetail; projectId: string }) => (
  <Stack>
    <PageTitle title={titleOf(known)} note={`To ${known.to ?? 'an address that was erased'}`} />
    <SendStatus send={known} />
    {known.status_fix !== null && isFixNews(known) && (
      <Alert color="yellow">{known.status_fix}</Alert>
    )}
    {known.waits_for !== null && <Waiting waitsFor={known.waits_for} />}
    <SendActions send={known} projectId={projectId} />
    <SimpleGrid cols={{ base: 1, md: 2 }}>
      <Card title="Hand-offs">
        <HandOffs handOffs={known.hand_offs} />
      </Card>
      <Card title="Feedback">
        <Feedback projectId={projectId} sendId={known.id} />
      </Card>
    </SimpleGrid>
    <Card title="What was decided">
      <SendDecided projectId={projectId} send={known} />
    </Card>
    <Card title="Message">
      {known.has_content ? (
        <Preview projectId={projectId} sendId={known.id} />
      ) : (
        <Text size="sm" c="dimmed">
          There is nothing to see: {whyUnseen(known)}.
        </Text>
      )}
    </Card>
  </Stack>
);

export const SendPage = () => {
  const { projectId, sendId } = route.useParams();
  const { data, isPending, error } = useQuery(send(projectId, sendId));
  return (
    <Stack>
      <Back to="/p/$projectId/sends" projectId={projectId} label="Send log" />
      {isPending && <Loading />}
      {isNotFound(error) && (
        <Empty isPage title="There is no such send">
          Look in the send log.
        </Empty>
      )}
      {error !== null && !isNotFound(error) && !data && <Failed error={error} />}
      {data && <Known send={data} projectId={projectId} />}
    </Stack>
  );
};
