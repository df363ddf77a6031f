import { Alert, Badge, Button, Code, Group, List, Paper, Stack, Text, Title } from '@mantine/core';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { api } from '../api.ts';
import type { Webhook } from '../api.ts';
import { useChange } from '../changes.ts';
import { Copy } from './copy.tsx';
import { ForRole } from './for_role.tsx';
import { Refused } from './refused.tsx';
import { When } from './when.tsx';

type Topic = Webhook['topics'][number];
type Pending = Webhook['pending_topics'][number];
type Props = { projectId: string; webhook: Webhook };

const Place = ({ topic }: { topic: Pick<Topic, 'arn' | 'account' | 'region'> }) => (
  <Stack gap={2}>
    <Code className="breaks">{topic.arn}</Code>
    <Text size="sm" c="dimmed">
      AWS account {topic.account}, region {topic.region}
    </Text>
  </Stack>
);

const One = ({ children }: { children: ReactNode }) => (
  <Paper withBorder p="sm" component="li">
    <Stack gap="xs">{children}</Stack>
  </Paper>
);

const Confirmed = ({ projectId, topic }: { projectId: string; topic: Topic }) => {
  const [isSure, setIsSure] = useState(false);
  const remove = useChange(projectId, ['webhooks'], () =>
    api.webhooks.removeTopic.mutate({ projectId, topicId: topic.id }),
  );
  const verb = isSure ? 'Yes, remove topic' : 'Remove topic';
  return (
    <One>
      <Place topic={topic} />
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
    </One>
  );
};

const Waiting = ({ projectId, topic }: { projectId: string; topic: Pending }) => {
  const input = { projectId, topicId: topic.id };
  const approve = useChange(projectId, ['webhooks'], () => api.webhooks.approveTopic.mutate(input));
  const reject = useChange(projectId, ['webhooks'], () => api.webhooks.rejectTopic.mutate(input));
  return (
    <One>
      <Place topic={topic} />
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
    </One>
  );
};

const Section = ({
  title,
  count,
  children,
}: {
  title: string;
  count: number;
  children: ReactNode;
}) => (
  <Stack gap="xs" component="section" aria-label={title}>
    <Group gap="xs">
      <Title order={3} size="h5">
        {title}
      </Title>
      <Badge variant="light">{count}</Badge>
    </Group>
    {children}
  </Stack>
);

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
      <Group wrap="nowrap" gap="xs" align="flex-start">
        <Code block className="snippet" flex={1}>
          {url}
          {PLACEHOLDER}
        </Code>
        <Copy value={url} what="the subscription URL, to which you add the token" />
      </Group>
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
      {pending.length > 0 && (
        <Section title="Topics waiting for approval" count={pending.length}>
          <Text size="sm">
            Approve a topic only if the AWS account is yours: its events can then suppress addresses
            that you email. Any AWS customer can make a topic appear in this list.
          </Text>
          <Stack gap="xs" component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
            {pending.map((topic) => (
              <Waiting key={topic.id} projectId={projectId} topic={topic} />
            ))}
          </Stack>
        </Section>
      )}
      <Section title="Confirmed topics" count={topics.length}>
        {topics.length === 0 ? (
          <Text size="sm">
            No topic is confirmed yet. Subscribe the URL above to your SNS topic.
          </Text>
        ) : (
          <Stack gap="xs" component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
            {topics.map((topic) => (
              <Confirmed key={topic.id} projectId={projectId} topic={topic} />
            ))}
          </Stack>
        )}
      </Section>
      <RefusedTopics webhook={webhook} />
      <ForeignNotices webhook={webhook} />
    </Stack>
  );
};
