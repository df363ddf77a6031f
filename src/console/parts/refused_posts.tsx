import { Alert, Code, Group, List, Stack, Text } from '@mantine/core';
import type { Webhook } from '../api.ts';
import { When } from './when.tsx';

/** What to do about posts that were refused, by the error that they were answered. */
const advice: Record<string, string> = {
  invalid_token:
    'They brought no token of this project, or one that was revoked. Make a new token above, and set it where ' +
    'your provider posts from.',
  invalid_signature:
    'Their signature was missing, wrong or too old. Copy the signing key from your account at Mailgun once more, ' +
    'and set it here.',
  foreign_topic:
    'They came from another SNS topic than the one that counts. If that topic is yours, reset the topic, then let ' +
    'Amazon SNS ask for confirmation again.',
  webhook_replayed:
    'A signature came a second time, with another body: somebody may be posting what they have seen. If it goes on, ' +
    'make a new signing key at Mailgun, and set it here.',
  invalid_request:
    'Nothing in them could be read. Each was answered what is wrong, and where: look at the answers in the log of ' +
    'your relay, and at /docs for what is taken.',
  invalid_json: 'They were no JSON. Let your relay post JSON, in UTF-8.',
  unsupported_media_type: 'They were of a type that is not read here. Let your relay post JSON.',
  body_too_large: 'They were too large. Let your relay post fewer events at a time.',
};

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
        <Group gap={6}>
          <Text size="sm">
            The last was answered <Code>{last_error}</Code>,
          </Text>
          <When at={last_at} />
        </Group>
        <Text size="sm">
          {advice[last_error] ?? 'Look at the answers in the log of your provider.'}
        </Text>
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
