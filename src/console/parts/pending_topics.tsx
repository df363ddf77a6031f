import { Button, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { api } from '../api.ts';
import type { Webhook } from '../api.ts';
import { useChange } from '../changes.ts';
import { ForRole } from './for_role.tsx';
import { Refused } from './refused.tsx';
import { TopicCard, TopicPlace, TopicSection } from './topic_card.tsx';
import { When } from './when.tsx';

type Pending = Webhook['pending_topics'][number];

const Waiting = ({ projectId, topic }: { projectId: string; topic: Pending }) => {
  const input = { projectId, topicId: topic.id };
  const approve = useChange(projectId, ['webhooks'], () => api.webhooks.approveTopic.mutate(input));
  const reject = useChange(projectId, ['webhooks'], () => api.webhooks.rejectTopic.mutate(input));
  return (
    <TopicCard>
      <TopicPlace topic={topic} />
      <Group gap={6}>
        <Text size="sm">Last request:</Text>
        <When at={topic.last_asked_at} />
      </Group>
      <Group gap={6}>
        <Text size="sm">Approve it before:</Text>
        <When at={topic.expires_at} />
      </Group>
      <ForRole projectId={projectId} role="owner" to="to approve or reject this topic">
        <Group gap="xs">
          <Button
            size="xs"
            loading={approve.isPending}
            onClick={() => approve.mutate(undefined)}
            aria-label={`Approve topic ${topic.arn}`}
          >
            Approve topic
          </Button>
          <Button
            size="xs"
            variant="default"
            loading={reject.isPending}
            onClick={() => reject.mutate(undefined)}
            aria-label={`Reject topic ${topic.arn}`}
          >
            Reject topic
          </Button>
        </Group>
      </ForRole>
      <Refused error={approve.error ?? reject.error} />
    </TopicCard>
  );
};

/** Rejects the topics that are listed when the owner begins, and none that comes meanwhile. */
const RejectAll = ({ projectId, topics }: { projectId: string; topics: readonly Pending[] }) => {
  const [chosen, setChosen] = useState<readonly Pending[] | null>(null);
  const reject = useChange(projectId, ['webhooks'], (those: readonly Pending[]) =>
    api.webhooks.rejectTopics.mutate({ projectId, topic_ids: those.map(({ id }) => id) }),
  );
  const press = (): void => {
    if (chosen === null) setChosen(topics);
    else reject.mutate(chosen, { onSettled: () => setChosen(null) });
  };
  return (
    <ForRole projectId={projectId} role="owner" to="to reject these topics">
      <Group>
        <Button
          size="xs"
          variant={chosen === null ? 'default' : 'filled'}
          color={chosen === null ? 'gray' : 'red'}
          loading={reject.isPending}
          onClick={press}
        >
          {chosen === null ? 'Reject all' : `Yes, reject ${chosen.length} topics`}
        </Button>
      </Group>
      <Refused error={reject.error} />
    </ForRole>
  );
};

/** The topics that wait for the approval of an owner. */
export const PendingTopics = ({
  projectId,
  topics,
}: {
  projectId: string;
  topics: readonly Pending[];
}) => {
  if (topics.length === 0) return null;
  const about = (
    <Stack gap="xs">
      <Text size="sm">
        Approve a topic only if the AWS account is yours: its events can then suppress addresses
        that you email. Any AWS customer can make a topic appear in this list.
      </Text>
      {topics.length > 1 && <RejectAll projectId={projectId} topics={topics} />}
    </Stack>
  );
  return (
    <TopicSection title="Topics waiting for approval" count={topics.length} about={about}>
      {topics.map((topic) => (
        <Waiting key={topic.id} projectId={projectId} topic={topic} />
      ))}
    </TopicSection>
  );
};
