import {
  Alert,
  Anchor,
  Group,
  Paper,
  SegmentedControl,
  SimpleGrid,
  Skeleton,
  Stack,
  Text,
} from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Suspense } from 'react';
import { partOf } from '../load.ts';
import type { Overview } from '../api.ts';
import { Failed } from '../parts/failed.tsx';
import { LiveEvents } from '../parts/live_events.tsx';
import { Loading } from '../parts/paged.tsx';
import { PageTitle } from '../parts/page_title.tsx';
import { SPANS, spans } from '../parts/spans.ts';
import type { Span } from '../parts/spans.ts';
import { When } from '../parts/when.tsx';
import { overview } from '../queries.ts';

const CHARTS_HEIGHT_PX = 240;
const route = getRouteApi('/signed-in/p/$projectId/');
const OverviewCharts = partOf(() => import('../parts/overview_charts.tsx'));

/** What each number is a number of. */
const numbers = [
  { name: 'events', label: 'Events', of: 'events' },
  { name: 'accepted', label: 'Mails accepted', of: 'sends' },
  { name: 'not_accepted', label: 'Not accepted', of: 'sends' },
  { name: 'bounced', label: 'Bounced', of: 'sends' },
  { name: 'complained', label: 'Marked as spam', of: 'sends' },
  { name: 'suppressed', label: 'Stopped by suppression', of: 'sends' },
] as const;

const Numbers = ({ data }: { data: Overview }) => (
  <SimpleGrid cols={{ base: 2, sm: 3, lg: 6 }} spacing={{ base: 'xs', sm: 'md' }}>
    {numbers.map(({ name, label, of }) => (
      <Paper key={name} withBorder p={{ base: 'sm', sm: 'md' }}>
        <Text size="sm" c="dimmed">
          {label}
          {data.capped[of] && ', over'}
        </Text>
        <Text fz={30} fw={650} className="number" data-number={name}>
          {data[name].toLocaleString()}
        </Text>
        {name === 'not_accepted' && data.not_accepted_bounced > 0 && (
          <Text size="xs" c="dimmed">
            {data.not_accepted_bounced.toLocaleString()} of them bounced
          </Text>
        )}
      </Paper>
    ))}
  </SimpleGrid>
);

/** From when on everything was counted, where there is more than is counted. */
const Capped = ({ buckets, capped }: Pick<Overview, 'buckets' | 'capped'>) => {
  const first = buckets.findLast(({ events, accepted }) => events === null || accepted === null);
  const what = [...(capped.events ? ['events'] : []), ...(capped.sends ? ['mails'] : [])];
  return (
    <Alert color="yellow">
      This project is so busy that only its newest {what.join(' and ')} are counted here
      {first ? (
        <>
          : what came before <When at={first.at} isDimmed={false} /> is left out, or told in part
        </>
      ) : null}
      .
    </Alert>
  );
};

/** Somebody has to say what became of these: the provider's own log tells. */
const Unknown = ({ data, projectId }: { data: Overview; projectId: string }) => {
  const { unknown, capped } = data;
  const count = unknown.toLocaleString() + (capped.unknown ? ' or more' : '');
  const isOne = unknown === 1;
  return (
    <Alert
      color="orange"
      title={
        isOne
          ? 'Of 1 mail nobody knows whether the provider took it'
          : `Of ${count} mails nobody knows whether the provider took them`
      }
    >
      <Anchor
        size="sm"
        renderRoot={(props) => (
          <Link
            {...props}
            to="/p/$projectId/sends"
            params={{ projectId }}
            search={{ status: 'unknown' }}
          />
        )}
      >
        See {isOne ? 'it' : 'them'}, and say what became of {isOne ? 'it' : 'them'}
      </Anchor>
    </Alert>
  );
};

/** The hourly budget holds these back: an owner raises it, or a server confirms the addresses. */
const UnconfirmedWaiting = ({ data, projectId }: { data: Overview; projectId: string }) => {
  const { unconfirmed_waiting: waiting, capped } = data;
  const count = waiting.toLocaleString() + (capped.unconfirmed_waiting ? ' or more' : '');
  return (
    <Alert
      color="yellow"
      title={`${count} ${waiting === 1 ? 'email waits' : 'emails wait'} for the hourly budget`}
    >
      <Text size="sm">
        Only browsers asserted these addresses. The project sends a limited number of such emails an
        hour.
      </Text>
      <Anchor
        size="sm"
        renderRoot={(props) => (
          <Link {...props} to="/p/$projectId/settings/sending-limits" params={{ projectId }} />
        )}
      >
        Change the sending limits
      </Anchor>
    </Alert>
  );
};

/** Mails that nobody gets: somebody has to choose another provider, or the next ones end in the same way. */
const ProviderGone = ({ data, projectId }: { data: Overview; projectId: string }) => {
  const { provider_gone: gone, capped } = data;
  const count = gone.toLocaleString() + (capped.provider_gone ? ' or more' : '');
  return (
    <Alert
      color="orange"
      title={
        gone === 1 && !capped.provider_gone
          ? '1 mail was cancelled, because its provider was deleted'
          : `${count} mails were cancelled, because their provider was deleted`
      }
    >
      <Text size="sm">
        Whatever an automation sends through a provider that is gone ends like that: choose another
        in its steps, and activate it.
      </Text>
      <Anchor
        size="sm"
        renderRoot={(props) => (
          <Link
            {...props}
            to="/p/$projectId/sends"
            params={{ projectId }}
            search={{ status: 'cancelled' }}
          />
        )}
      >
        See what was cancelled
      </Anchor>
    </Alert>
  );
};

/** Left out where nothing happened: what to do comes first there. */
const Charts = ({ data, span }: { data: Overview; span: Span }) => (
  <>
    <Suspense fallback={<Skeleton height={CHARTS_HEIGHT_PX} />}>
      <OverviewCharts data={data} span={span} />
    </Suspense>
    <Text size="sm" c="dimmed">
      Events are counted when they arrive; mails, and what became of them, when the mail was
      planned. Not accepted: its provider refused it, it expired, its template could not be
      rendered, or somebody has found that it was not sent. What its provider refused because there
      is no such mailbox, or it is full, is not accepted and bounced, and counted as both. Stopped
      by suppression: emails that were not sent, because their address is suppressed or
      unsubscribed. The page Suppressions lists the addresses.
    </Text>
  </>
);

const Lately = ({ projectId, span }: { projectId: string; span: Span }) => {
  const { data, isPending, error } = useQuery(overview(projectId, span));
  if (isPending) return <Loading />;
  if (!data) return <Failed error={error} />;
  return (
    <Stack>
      {(data.capped.events || data.capped.sends) && <Capped {...data} />}
      {data.unknown > 0 && <Unknown data={data} projectId={projectId} />}
      {data.unconfirmed_waiting > 0 && <UnconfirmedWaiting data={data} projectId={projectId} />}
      {data.provider_gone > 0 && <ProviderGone data={data} projectId={projectId} />}
      <Numbers data={data} />
      {numbers.some(({ name }) => data[name] > 0) && <Charts data={data} span={span} />}
    </Stack>
  );
};

export const OverviewPage = () => {
  const { projectId } = route.useParams();
  const { span = 'day' } = route.useSearch();
  const navigate = route.useNavigate();
  const choose = (chosen: Span) =>
    void navigate({ search: { span: chosen === 'day' ? undefined : chosen }, replace: true });
  return (
    <Stack gap="lg">
      <Group justify="space-between" align="flex-end">
        <PageTitle title="Overview" note={spans[span].note} />
        <SegmentedControl
          aria-label="How far back"
          data={SPANS.map((value) => ({ value, label: spans[value].label }))}
          value={span}
          onChange={choose}
        />
      </Group>
      <Lately projectId={projectId} span={span} />
      <LiveEvents projectId={projectId} />
    </Stack>
  );
};
