import { Group, Text, Timeline } from '@mantine/core';
import type { SendDetail } from '../api.ts';
import { ProviderAnswer } from './provider_answer.tsx';
import { inWords } from './statuses.ts';
import { When } from './when.tsx';

const outcomes: Record<string, string> = {
  accepted: 'The provider took it',
  rejected: 'The provider refused it for good',
  deferred: 'The provider did not take it; it is tried again',
  unknown: 'Nobody knows whether the provider took it',
  not_started: 'Not begun: it would have begun too late',
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
      {handOffs.map(({ attempt, started_at, outcome, reason, provider_message_id, ...told }) => (
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
          <ProviderAnswer
            answer={{
              code: told.reply_code,
              enhanced_code: told.reply_enhanced,
              text: told.reply_text,
              queue_id: told.queue_id,
            }}
          />
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
