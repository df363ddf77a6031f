import { Group, Text } from '@mantine/core';
import type { Send } from '../api.ts';
import { Status } from './status.tsx';
import { inWords, statuses } from './statuses.ts';

type Props = {
  send: Pick<Send, 'status' | 'status_reason'>;
  /** What of its provider makes it wait, if anything does. */
  hold?: string | null;
};

/** How a send stands, and why, where that says more. */
export const SendStatus = ({ send, hold = null }: Props) => {
  const { status, status_reason } = send;
  const reason = status === 'queued' && hold !== null ? hold : inWords(status_reason ?? '');
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
