import type { Scope } from '../../base/db.ts';
import { partsOfTopic } from '../sns.ts';
import { listRefusedTopics } from './refused_topics.ts';
import { PENDING_TOPIC_HOURS_MAX } from './topic_limits.ts';
import { listChanges, listTopics } from './topic_queries.ts';
import type { TopicRow } from './topic_queries.ts';

const TOPIC_CHANGES_MAX = 20;
const PENDING_MS = PENDING_TOPIC_HOURS_MAX * 3_600_000;

/** What a webhook without topics answers in their place. */
export const NO_TOPICS = { topics: [], pending_topics: [], refused_topics: [], topic_changes: [] };

const aboutOf = (topicArn: string) => ({ arn: topicArn, ...partsOfTopic(topicArn) });
const toText = (at: Date | null): string | null => at?.toISOString() ?? null;

const toConfirmed = (topic: TopicRow) => ({
  id: topic.topic_id,
  ...aboutOf(topic.topic_arn),
  confirmed_by: topic.confirmed_by ?? 'token',
  confirmed_at: (topic.confirmed_at ?? topic.first_asked_at).toISOString(),
  unsubscribed_at: toText(topic.unsubscribed_at),
});

const expiresAt = ({ last_asked_at }: TopicRow): Date =>
  new Date(last_asked_at.getTime() + PENDING_MS);

const toPending = (topic: TopicRow) => ({
  id: topic.topic_id,
  ...aboutOf(topic.topic_arn),
  first_asked_at: topic.first_asked_at.toISOString(),
  last_asked_at: topic.last_asked_at.toISOString(),
  expires_at: expiresAt(topic).toISOString(),
});

/** Returns the topics of a project, those that wait for approval, and what became of others. */
export const describeTopics = async (scope: Scope) => {
  const topics = await listTopics(scope);
  const isWaiting = (topic: TopicRow): boolean =>
    topic.status === 'pending' && expiresAt(topic) > new Date();
  const refused = await listRefusedTopics(scope);
  const changes = await listChanges(scope, TOPIC_CHANGES_MAX);
  return {
    topics: topics.filter(({ status }) => status === 'confirmed').map(toConfirmed),
    pending_topics: topics.filter(isWaiting).map(toPending),
    refused_topics: refused.map(({ topic_arn, refused_count, last_reason, last_refused_at }) => ({
      ...aboutOf(topic_arn),
      count: refused_count,
      last_error: last_reason,
      last_at: last_refused_at.toISOString(),
    })),
    topic_changes: changes.map(({ topic_arn, change, changed_at }) => ({
      arn: topic_arn,
      change,
      changed_at: changed_at.toISOString(),
    })),
  };
};
