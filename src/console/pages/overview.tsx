import { Alert, Group, Paper, SimpleGrid, Skeleton, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import type { Overview } from '../api.ts';
import { Empty } from '../parts/empty.tsx';
import { Entries } from '../parts/entries.tsx';
import { Failed } from '../parts/failed.tsx';
import { Loading } from '../parts/paged.tsx';
import { PageTitle } from '../parts/page_title.tsx';
import { FirstEvent } from '../parts/snippet.tsx';
import { latestEvents, overview } from '../queries.ts';

const CHART_HEIGHT_PX = 240;
const route = getRouteApi('/signed-in/p/$projectId');
const HourChart = lazy(() => import('../parts/hour_chart.tsx'));

const numbers = [
  { name: 'events', label: 'Events received' },
  { name: 'accepted', label: 'Mails accepted' },
  { name: 'bounced', label: 'Bounced' },
  { name: 'suppressed', label: 'Held back, suppressed' },
] as const;

const Numbers = ({ data }: { data: Overview }) => (
  <SimpleGrid cols={{ base: 2, md: 4 }} spacing={{ base: 'xs', sm: 'md' }}>
    {numbers.map(({ name, label }) => (
      <Paper key={name} withBorder p={{ base: 'sm', sm: 'md' }}>
        <Text size="sm" c="dimmed">
          {label}
        </Text>
        <Text fz={30} fw={650} className="number" data-number={name}>
          {data[name].toLocaleString()}
        </Text>
      </Paper>
    ))}
  </SimpleGrid>
);

const LastDay = ({ projectId }: { projectId: string }) => {
  const { data, isPending, error } = useQuery(overview(projectId));
  if (isPending) return <Loading />;
  if (!data) return <Failed error={error} />;
  return (
    <Stack>
      {data.is_capped && (
        <Alert color="yellow">
          This project is so busy that only its newest events and sends are counted here.
        </Alert>
      )}
      <Numbers data={data} />
      <Paper withBorder p={{ base: 'sm', sm: 'md' }}>
        <Suspense fallback={<Skeleton height={CHART_HEIGHT_PX} />}>
          <HourChart hours={data.hours} height={CHART_HEIGHT_PX} />
        </Suspense>
      </Paper>
    </Stack>
  );
};

const Live = () => (
  <Group gap={6} title="Asked every two seconds while this page is in front">
    <span className="live" />
    <Text size="sm" c="dimmed">
      live
    </Text>
  </Group>
);

const LatestEvents = ({ projectId }: { projectId: string }) => {
  const { data, isPending, error } = useQuery(latestEvents(projectId));
  if (isPending) return <Loading />;
  if (!data) return <Failed error={error} />;
  if (data.items.length > 0) return <Entries entries={data.items} projectId={projectId} />;
  return (
    <Empty title="No event has arrived yet">
      <FirstEvent />
    </Empty>
  );
};

export const OverviewPage = () => {
  const { projectId } = route.useParams();
  return (
    <Stack gap="lg">
      <PageTitle title="Overview" note="The last 24 hours." />
      <LastDay projectId={projectId} />
      <Stack gap="sm">
        <Group justify="space-between">
          <Title order={2} size="h3">
            Latest events
          </Title>
          <Live />
        </Group>
        <LatestEvents projectId={projectId} />
      </Stack>
    </Stack>
  );
};
