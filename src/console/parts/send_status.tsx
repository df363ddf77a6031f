import { Group, Text } from '@mantine/core';
import type { Send } from '../api.ts';
import { Status } from './status.tsx';
import { inWords, statuses } from './statuses.ts';

/** How a send stands, and why, where that says more. */
export const SendStatus = ({ send }: { send: Pick<Send, 'status' | 'status_reason'> }) => {
  const { status, status_reason } = send;
  const reason = inWords(status_reason ?? '');
  const isNews = reason !== '' && reason !== statuses[status].word.toLowerCase();
  return (
    <Group gap={6}>
      <Status {...statuses[status]} />
      {isNews && (
        <Text size="sm" c="dimmed" className="breaks">
          {reason}
        </Text>
      )}
    </Group>
  );
};
