import { Alert, Code, Group, List, Stack, Text } from '@mantine/core';
import type { Webhook } from '../api.ts';
import { adviceOn } from './refused_words.ts';
import { When } from './when.tsx';

/** Whether a post was taken after the last that was refused. */
const isMended = ({ refused, last_notices: [last] }: Webhook): boolean =>
  refused !== null && last !== undefined && last.received_at > refused.last_at;

/** Posts that were refused: what they told is lost unless the provider tries again. */
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
  return (
    <Alert color="red" title={`Posts refused: ${count.toLocaleString()}`}>
      <Stack gap={6}>
        <Text size="sm">
          The last came <When at={last_at} isDimmed={false} /> and was answered{' '}
          <Code>{last_error}</Code>.
        </Text>
        <Text size="sm">{adviceOn(webhook.verified_by, last_error)}</Text>
      </Stack>
    </Alert>
  );
};

/** Topics that asked in vain since the one that counts was confirmed, or since none is; each once. */
const refusedTopics = ({ topic_changes }: Webhook) => {
  const end = topic_changes.findIndex(({ change }) => change === 'confirmed' || change === 'reset');
  const since = end < 0 ? topic_changes : topic_changes.slice(0, end);
  const refused = since.filter(({ change }) => change === 'refused').toReversed();
  return [...new Map(refused.map((one) => [one.arn, one])).values()].toReversed();
};

/** Other topics that wanted to tell of this project. */
export const RefusedTopics = ({ webhook }: { webhook: Webhook }) => {
  const topics = refusedTopics(webhook);
  if (topics.length === 0) return null;
  return (
    <Alert color="orange" title="Other topics were refused">
      <Stack gap={6}>
        <List size="sm">
          {topics.map(({ arn, changed_at }) => (
            <List.Item key={arn} className="breaks">
              <Code className="breaks">{arn}</Code> <When at={changed_at} />
            </List.Item>
          ))}
        </List>
        <Text size="sm">
          Only one topic counts. If one of these is yours and is to take its place, reset the topic,
          then let Amazon SNS ask for confirmation again. What is not yours needs nothing done.
        </Text>
      </Stack>
    </Alert>
  );
};
