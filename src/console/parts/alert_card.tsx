import { Group, Paper, Stack, Text, Title } from '@mantine/core';
import type { Alert } from '../alert_queries.ts';
import { AlertLink } from './alert_link.tsx';
import { Status } from './status.tsx';
import { When } from './when.tsx';

/** One alert: what is wrong, what to do, since when, until when. */
export const AlertCard = ({ projectId, alert }: { projectId: string; alert: Alert }) => {
  const isOpen = alert.status === 'open';
  return (
    <Paper withBorder p="md" component="li" aria-label={`${alert.title}: ${alert.subject.name}`}>
      <Stack gap={6}>
        <Group justify="space-between" align="flex-start">
          <Title order={2} size="h5" className="breaks">
            {alert.title}
          </Title>
          {isOpen ? <Status word="Open" color="red" /> : <Status word="Resolved" color="teal" />}
        </Group>
        <Text size="sm" className="breaks">
          {isOpen ? alert.summary : `Trunkline said then: ${alert.summary}`}
        </Text>
        {isOpen && (
          <Text size="sm" className="breaks">
            {alert.fix}
          </Text>
        )}
        <Group gap={8}>
          <Text size="sm" c="dimmed">
            since
          </Text>
          <When at={alert.opened_at} />
          {alert.resolved_at !== null && (
            <>
              <Text size="sm" c="dimmed">
                until
              </Text>
              <When at={alert.resolved_at} />
            </>
          )}
        </Group>
        {isOpen && <AlertLink projectId={projectId} alert={alert} />}
      </Stack>
    </Paper>
  );
};
