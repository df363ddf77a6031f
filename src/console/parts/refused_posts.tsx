import { Alert, Code, Group, Stack, Text } from '@mantine/core';
import type { Webhook } from '../api.ts';
import { adviceOn, mayBeStrangers } from './refused_words.ts';
import { isMended } from './webhooks/webhook_state.ts';
import { When } from './when.tsx';

/** Posts that were refused: their events are lost unless the provider tries again. */
export const RefusedPosts = ({ webhook }: { webhook: Webhook }) => {
  const { refused } = webhook;
  if (!refused) return null;
  const { count, last_error, last_at } = refused;
  if (isMended(webhook)) {
    return (
      <Group gap={6}>
        <Text size="sm" c="dimmed">
          Refused before: {count.toLocaleString()}, the last with <Code>{last_error}</Code>,
        </Text>
        <When at={last_at} />
      </Group>
    );
  }
  const isUncertain = mayBeStrangers(webhook);
  const [last] = webhook.last_notices;
  return (
    <Alert
      color={isUncertain ? 'orange' : 'red'}
      title={`Posts refused: ${count.toLocaleString()}`}
    >
      <Stack gap={6}>
        <Text size="sm">
          The last one came <When at={last_at} isDimmed={false} /> and was answered{' '}
          <Code>{last_error}</Code>. Posts are counted within five seconds.
        </Text>
        {isUncertain && last && (
          <Text size="sm">
            Trunkline accepted the last event <When at={last.received_at} isDimmed={false} />. If
            that is recent, your provider posts as it should: anyone can post to this URL, and you
            can ignore the refused posts. Otherwise:
          </Text>
        )}
        <Text size="sm">{adviceOn(webhook, last_error)}</Text>
      </Stack>
    </Alert>
  );
};
