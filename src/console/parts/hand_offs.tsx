import { Group, Text, Timeline } from '@mantine/core';
import type { SendDetail } from '../api.ts';
import { inWords } from './statuses.ts';
import { When } from './when.tsx';

const outcomes: Record<string, string> = {
  accepted: 'The provider took it',
  rejected: 'The provider refused it for good',
  deferred: 'The provider did not take it; it is tried again',
  unknown: 'Nobody knows whether the provider took it',
  not_started: 'Not begun: it would have begun too late',
};

type Said = Pick<
  SendDetail['hand_offs'][number],
  'reply_code' | 'reply_enhanced' | 'reply_text' | 'queue_id'
>;

/** What the provider answered, in its own words. */
const Reply = ({ reply_code, reply_enhanced, reply_text, queue_id }: Said) => {
  const codes = [reply_code, reply_enhanced].filter((code) => code !== null && code !== '');
  if (codes.length === 0 && reply_text === null && queue_id === null) return null;
  return (
    <Text size="sm" c="dimmed" className="breaks">
      The provider answered: {[...codes, reply_text].join(' ').trim()}
      {queue_id !== null && ` (queue id ${queue_id})`}
    </Text>
  );
};

/** Every time that a send was handed to its provider, and what came of it. */
export const HandOffs = ({ handOffs }: { handOffs: SendDetail['hand_offs'] }) => {
  if (handOffs.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        It was not handed to the provider.
      </Text>
    );
  }
  return (
    <Timeline bulletSize={12} lineWidth={2}>
      {handOffs.map(({ attempt, started_at, outcome, reason, provider_message_id, ...said }) => (
        <Timeline.Item
          key={attempt}
          title={
            <Group gap="xs" align="baseline">
              <Text size="sm" fw={600}>
                {outcome === null ? 'Under way' : (outcomes[outcome] ?? inWords(outcome))}
              </Text>
              <When at={started_at} />
            </Group>
          }
        >
          {reason !== null && (
            <Text size="sm">
              {reason === 'resolved' ? 'Somebody found that it was not sent' : inWords(reason)}
            </Text>
          )}
          <Reply {...said} />
          {provider_message_id !== null && (
            <Text size="sm" c="dimmed" className="breaks">
              its id there: {provider_message_id}
            </Text>
          )}
        </Timeline.Item>
      ))}
    </Timeline>
  );
};
