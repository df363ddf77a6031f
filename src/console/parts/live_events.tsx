import { Button, Group, Stack, Text, Title } from '@mantine/core';
import { IconPlayerPause, IconPlayerPlay } from '@tabler/icons-react';
import { useState } from 'react';
import { useLatestEvents } from '../live_queries.ts';
import { Empty } from './empty.tsx';
import { Entries } from './entries.tsx';
import { Failed } from './failed.tsx';
import { Loading } from './paged.tsx';
import { FirstEvent } from './snippet.tsx';

type Props = { projectId: string };
type Events = ReturnType<typeof useLatestEvents>;

const Latest = ({ projectId, events }: Props & { events: Events }) => {
  const { data, isPending, error } = events;
  if (isPending) return <Loading />;
  if (!data) return <Failed error={error} />;
  if (data.items.length > 0) return <Entries entries={data.items} projectId={projectId} />;
  return (
    <Empty title="No event has arrived yet">
      <FirstEvent projectId={projectId} />
    </Empty>
  );
};

const said = (isCut: boolean): string => (isCut ? 'no connection; trying again' : 'live');

/** The newest events as they arrive, until somebody wants to read them in peace. */
export const LiveEvents = ({ projectId }: Props) => {
  const [isLive, setIsLive] = useState(true);
  const events = useLatestEvents(projectId, isLive);
  const isCut = events.failureCount > 0 || events.fetchStatus === 'paused';
  const Icon = isLive ? IconPlayerPause : IconPlayerPlay;
  return (
    <Stack gap="sm">
      <Group justify="space-between">
        <Title order={2} size="h3">
          Latest events
        </Title>
        <Group gap="sm">
          {isLive && !isCut && <span className="live" />}
          <Text size="sm" c="dimmed">
            {isLive ? said(isCut) : 'paused'}
          </Text>
          <Button
            size="xs"
            variant="default"
            leftSection={<Icon size={14} />}
            onClick={() => setIsLive(!isLive)}
          >
            {isLive ? 'Pause' : 'Go on'}
          </Button>
        </Group>
      </Group>
      <Latest projectId={projectId} events={events} />
    </Stack>
  );
};
