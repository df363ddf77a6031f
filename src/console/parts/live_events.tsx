import { Button, Group, Stack, Text, Title } from '@mantine/core';
import { IconPlayerPause, IconPlayerPlay } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { latestEvents } from '../queries.ts';
import { Empty } from './empty.tsx';
import { Entries } from './entries.tsx';
import { Failed } from './failed.tsx';
import { Loading } from './paged.tsx';
import { FirstEvent } from './snippet.tsx';

type Props = { projectId: string };

const Latest = ({ projectId, isLive }: Props & { isLive: boolean }) => {
  const { data, isPending, error } = useQuery(latestEvents(projectId, isLive));
  if (isPending) return <Loading />;
  if (!data) return <Failed error={error} />;
  if (data.items.length > 0) return <Entries entries={data.items} projectId={projectId} />;
  return (
    <Empty title="No event has arrived yet">
      <FirstEvent />
    </Empty>
  );
};

/** The newest events as they arrive, until somebody wants to read them in peace. */
export const LiveEvents = ({ projectId }: Props) => {
  const [isLive, setIsLive] = useState(true);
  const Icon = isLive ? IconPlayerPause : IconPlayerPlay;
  return (
    <Stack gap="sm">
      <Group justify="space-between">
        <Title order={2} size="h3">
          Latest events
        </Title>
        <Group gap="sm">
          {isLive && <span className="live" />}
          <Text size="sm" c="dimmed">
            {isLive ? 'live' : 'paused'}
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
      <Latest projectId={projectId} isLive={isLive} />
    </Stack>
  );
};
