import { Alert, Group, Paper, Stack, Text, Timeline, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { AddressState } from '../api.ts';
import { AddressActions } from '../parts/address_actions.tsx';
import { ForRole } from '../parts/for_role.tsx';
import { Back } from '../parts/back.tsx';
import { Failed } from '../parts/failed.tsx';
import { Loading } from '../parts/paged.tsx';
import { PageTitle } from '../parts/page_title.tsx';
import { changes, reasonInWords, reasons, sourceInWords } from '../parts/reasons.ts';
import { Status } from '../parts/status.tsx';
import { UndoImport } from '../parts/undo_import.tsx';
import { When } from '../parts/when.tsx';
import { address } from '../queries.ts';

const route = getRouteApi('/signed-in/p/$projectId/suppressions/$email');

const State = ({ state: { suppressed, unsubscribed_at } }: { state: AddressState }) => (
  <Group gap="xs">
    {suppressed && <Status word="Gets no mail" color="red" />}
    {suppressed && <Status {...reasons[suppressed.reason]} />}
    {unsubscribed_at !== null && <Status word="Wants no marketing mail" color="orange" />}
    {!suppressed && unsubscribed_at === null && <Status word="May be mailed" color="green" />}
  </Group>
);

type Change = AddressState['history'][number];

const Line = ({ change }: { change: Change }) => (
  <Group gap="xs" align="baseline">
    <Text size="sm" fw={600}>
      {changes[change.change]}
      {change.reason && `: ${reasonInWords(change.reason)}`}
    </Text>
    <Text size="sm" c="dimmed">
      by {sourceInWords(change.source)}
    </Text>
    <When at={change.changed_at} />
  </Group>
);

const TAKEN_BACK = ['released', 'resubscribed'];

const History = ({ history, projectId }: { history: Change[]; projectId: string }) => {
  const undone = history.flatMap(({ change, import_id }) =>
    TAKEN_BACK.includes(change) ? [import_id] : [],
  );
  if (history.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        Nobody has said anything about this address.
      </Text>
    );
  }
  return (
    <Timeline bulletSize={12} lineWidth={2}>
      {history.map((change, at) => (
        <Timeline.Item key={at} title={<Line change={change} />}>
          {change.note !== null && (
            <Text size="sm" className="breaks">
              “{change.note}”
            </Text>
          )}
          {change.import_id !== null && !undone.includes(change.import_id) && (
            <UndoImport projectId={projectId} importId={change.import_id} />
          )}
        </Timeline.Item>
      ))}
    </Timeline>
  );
};

export const AddressPage = () => {
  const { projectId, email } = route.useParams();
  const { data, isPending, error } = useQuery(address(projectId, email));
  return (
    <Stack>
      <Back to="/p/$projectId/suppressions" projectId={projectId} label="Suppressions" />
      <PageTitle title={email} />
      {isPending && <Loading />}
      {error !== null && !data && <Failed error={error} />}
      {data && (
        <>
          <State state={data} />
          {data.email === null && data.history.length > 0 && (
            <Alert color="gray">
              The person was erased. What is known of the address outlives them, unread.
            </Alert>
          )}
          <ForRole projectId={projectId} role="editor" to="to change how it stands">
            <AddressActions projectId={projectId} email={email} state={data} />
          </ForRole>
          <Paper withBorder p="md" component="section">
            <Title order={2} size="h5" mb="md">
              History
            </Title>
            <History history={data.history} projectId={projectId} />
          </Paper>
        </>
      )}
    </Stack>
  );
};
