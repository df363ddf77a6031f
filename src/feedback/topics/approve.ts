import { withoutAudit } from '../../base/audit.ts';
import { inProject } from '../../base/db.ts';
import type { Scope } from '../../base/db.ts';
import type { Deps } from '../../base/deps.ts';
import { Refusal } from '../../base/refusal.ts';
import { settlePending } from './topic_alerts.ts';
import { REJECTED_TOPICS_MAX } from './topic_limits.ts';
import {
  deleteConfirmed,
  deleteOldRejected,
  insertChange,
  lockTopics,
  markConfirming,
  setRejected,
} from './topic_queries.ts';
import type { TopicRow } from './topic_queries.ts';
import {
  confirmAtAmazon,
  CONFIRMING_SECONDS,
  keepConfirmed,
  openTopics,
  requireRoom,
} from './topics.ts';

const GONE =
  'No topic with this id waits for approval. It may have expired, or another owner decided about it. ' +
  'Create the subscription at Amazon SNS again.';

const NONE_OF_THEM = 'No topic with one of these ids waits for approval. List the webhooks again.';

type Opened = { topic: TopicRow; topics: readonly TopicRow[] };

/** Returns a topic under the lock of the project's list; refuses one that is not there. */
const openTopic = async (scope: Scope, topicId: string): Promise<Opened> => {
  const topics = await openTopics(scope);
  const topic = topics.find(({ topic_id }) => topic_id === topicId);
  if (!topic) throw new Refusal('not_found', { detail: GONE });
  return { topic, topics };
};

/** Returns the pending topic, which has room; null when it is confirmed already. */
const openPending = async (scope: Scope, topicId: string): Promise<TopicRow | null> => {
  const { topic, topics } = await openTopic(scope, topicId);
  if (topic.status === 'confirmed') return null;
  if (topic.status === 'rejected') throw new Refusal('not_found', { detail: GONE });
  requireRoom(topics, topic.topic_arn);
  return topic;
};

type Where = { deps: Deps; projectId: string };

/**
 * Confirms a pending topic at Amazon, then here. Of two decisions about one topic the first that commits counts: the
 * later one finds no pending topic. A topic that is confirmed already stays as it is.
 */
export const approveTopic = async ({ deps, projectId }: Where, topicId: string): Promise<void> => {
  const pending = await inProject(withoutAudit(deps), projectId, async (scope) => {
    const topic = await openPending(scope, topicId);
    if (topic) await markConfirming(scope, topic.topic_arn, CONFIRMING_SECONDS);
    return topic;
  });
  if (pending === null) return;
  const { topic_arn: topicArn, last_asked_at: askedAt, confirm_token } = pending;
  const request = { topicArn, askedAt, token: confirm_token ?? '' };
  const subscriptionArn = await confirmAtAmazon(deps, request);
  await inProject(deps, projectId, async (scope) => {
    if ((await openPending(scope, topicId)) === null) return;
    await keepConfirmed(scope, { ...request, subscriptionArn, by: 'approval' });
    await insertChange(scope, topicArn, 'approved');
  });
};

/** Rejects a pending topic. It is not listed again; the webhook token still confirms it. */
export const rejectTopic = async (scope: Scope, topicId: string): Promise<void> => {
  const { topic } = await openTopic(scope, topicId);
  if (topic.status === 'rejected') return;
  if (topic.status === 'confirmed') throw new Refusal('not_found', { detail: GONE });
  await rejectPending(scope, [topic]);
};

/**
 * Rejects those of some topics that still wait. The others stay as they are, so a repetition changes nothing. Refuses
 * ids of which the project has no topic at all.
 */
export const rejectTopics = async (scope: Scope, topicIds: readonly string[]): Promise<void> => {
  const topics = (await openTopics(scope)).filter(({ topic_id }) => topicIds.includes(topic_id));
  if (topics.length === 0) throw new Refusal('not_found', { detail: NONE_OF_THEM });
  await rejectPending(
    scope,
    topics.filter(({ status }) => status === 'pending'),
  );
};

const rejectPending = async (scope: Scope, topics: readonly TopicRow[]): Promise<void> => {
  await setRejected(
    scope,
    topics.map(({ topic_id }) => topic_id),
  );
  await deleteOldRejected(scope, REJECTED_TOPICS_MAX);
  await settlePending(scope);
  for (const { topic_arn } of topics) await insertChange(scope, topic_arn, 'rejected');
};

/**
 * Deletes a confirmed topic: its notifications are refused from now on. A confirmation that is under way finds the
 * topic gone.
 */
export const removeTopic = async (scope: Scope, topicId: string): Promise<void> => {
  await lockTopics(scope);
  const deleted = await deleteConfirmed(scope, topicId);
  if (!deleted)
    throw new Refusal('not_found', { detail: 'This project has no confirmed topic with this id.' });
  await insertChange(scope, deleted.topic_arn, 'removed');
};
