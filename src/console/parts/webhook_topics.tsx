import { Alert, Button, Code, Group, List, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { api } from '../api.ts';
import type { Webhook } from '../api.ts';
import { useChange } from '../changes.ts';
import { Copyable } from './copy.tsx';
import { ForRole } from './for_role.tsx';
import { PendingTopics } from './pending_topics.tsx';
import { Refused } from './refused.tsx';
import { TopicCard, TopicPlace, TopicSection } from './topic_card.tsx';
import { When } from './when.tsx';

type Topic = Webhook['topics'][number];
type Props = { projectId: string; webhook: Webhook };

const Confirmed = ({ projectId, topic }: { projectId: string; topic: Topic }) => {
  const [isSure, setIsSure] = useState(false);
  const remove = useChange(projectId, ['webhooks'], () =>
    api.webhooks.removeTopic.mutate({ projectId, topicId: topic.id }),
  );
  const verb = isSure ? 'Yes, remove topic' : 'Remove topic';
  return (
    <TopicCard>
      <TopicPlace topic={topic} />
      <Group gap={6}>
        <Text size="sm">
          {topic.confirmed_by === 'token' ? 'Confirmed by the webhook token' : 'Approved'},
        </Text>
        <When at={topic.confirmed_at} />
      </Group>
      {topic.unsubscribed_at !== null && (
        <Alert color="orange">
          This topic was unsubscribed at Amazon SNS and sends nothing. Subscribe it again there, or
          remove it here.
        </Alert>
      )}
      <ForRole projectId={projectId} role="owner" to="to remove this topic">
        <Group>
          <Button
            size="xs"
            variant={isSure ? 'filled' : 'default'}
            color={isSure ? 'red' : 'gray'}
            loading={remove.isPending}
            onClick={() => (isSure ? remove.mutate(undefined) : setIsSure(true))}
            aria-label={`${verb} ${topic.arn}`}
          >
            {verb}
          </Button>
        </Group>
      </ForRole>
      <Refused error={remove.error} />
    </TopicCard>
  );
};

const PLACEHOLDER = '<webhook token>';

/** What to do at Amazon, and the address to subscribe there. */
const Subscribe = ({ webhook }: Pick<Props, 'webhook'>) => {
  const url = `${location.origin}${webhook.path}?token=`;
  return (
    <Stack gap="xs">
      <Text size="sm">
        Create an HTTPS subscription for your SNS topic at Amazon, with raw message delivery off.
        Use this URL, and put the webhook token from above in it:
      </Text>
      <Copyable value={url} what="the subscription URL, to which you add the token">
        {url}
        {PLACEHOLDER}
      </Copyable>
      <Text size="sm" c="dimmed">
        With the token, Trunkline confirms the topic at once. Without the token, the topic waits
        here until an owner approves it. Add one topic for each region, or separate topics for
        bounces and complaints. Keep the token valid while a subscription uses it.
      </Text>
    </Stack>
  );
};

const RefusedTopics = ({ webhook: { refused_topics } }: Pick<Props, 'webhook'>) => {
  if (refused_topics.length === 0) return null;
  return (
    <Alert color="orange" title="Refused topics">
      <Stack gap={6}>
        <List size="sm">
          {refused_topics.map(({ arn, account, region, count, last_error, last_at }) => (
            <List.Item key={arn} className="breaks">
              <Code className="breaks">{arn}</Code> (AWS account {account}, region {region}): posts
              refused: {count.toLocaleString()}, the last with <Code>{last_error}</Code>{' '}
              <When at={last_at} />
            </List.Item>
          ))}
        </List>
        <Text size="sm">
          If a topic is yours, create its subscription again with the webhook token in the URL. You
          need to do nothing about topics of other AWS accounts: Trunkline ignores them.
        </Text>
      </Stack>
    </Alert>
  );
};

const isForeign = ({ outcome }: Webhook['last_notices'][number]): boolean => outcome === 'foreign';

const ForeignNotices = ({ webhook: { last_notices } }: Pick<Props, 'webhook'>) =>
  last_notices.some(isForeign) ? (
    <Text size="sm" c="dimmed">
      Some of the last events are about messages that this project did not send through Amazon SES.
      Trunkline stores those events without an address. They have no effect.
    </Text>
  ) : null;

/** The Amazon SNS topics of a project: those that count, those that wait, and those that were refused. */
export const WebhookTopics = ({ projectId, webhook }: Props) => {
  const { topics, pending_topics: pending } = webhook;
  return (
    <Stack gap="md">
      <Subscribe webhook={webhook} />
      <PendingTopics projectId={projectId} topics={pending} />
      <TopicSection
        title="Confirmed topics"
        count={topics.length}
        about={
          topics.length === 0 && (
            <Text size="sm">
              No topic is confirmed yet. Subscribe the URL above to your SNS topic.
            </Text>
          )
        }
      >
        {topics.map((topic) => (
          <Confirmed key={topic.id} projectId={projectId} topic={topic} />
        ))}
      </TopicSection>
      <RefusedTopics webhook={webhook} />
      <ForeignNotices webhook={webhook} />
    </Stack>
  );
};
