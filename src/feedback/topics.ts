import { asService } from '../base/audit.ts';
import { inProject } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { Refusal } from '../base/refusal.ts';
import { isRemembered, rememberPost } from './posts.ts';
import { toCanonical } from './sns.ts';
import type { SnsMessage } from './sns.ts';
import { confirmSubscription } from './sns_network.ts';
import type { SnsNetwork } from './sns_network.ts';
import {
  deleteTopic,
  holdTopic,
  insertChange,
  pinTopic,
  setUnsubscribed,
} from './topic_queries.ts';

const SOURCE = 'amazon-ses';
export const UNREACHABLE_RETRY_SECONDS = 10;

export const unreachable = (): Refusal =>
  new Refusal('unavailable', {
    retryAfterSeconds: UNREACHABLE_RETRY_SECONDS,
    detail: 'Amazon SNS cannot be asked at the moment. Retry after Retry-After.',
  });

const toPost = (message: SnsMessage) => ({
  source: SOURCE,
  id: message.MessageId,
  said: toCanonical(message),
});

/** Whether a message is new; the same one again changes nothing. */
const isNew = async (scope: Scope, message: SnsMessage): Promise<boolean> =>
  (await rememberPost(scope, toPost(message))) === 'new';

/** Refuses a message of a topic that is not the project's. */
const holdOwnTopic = async (scope: Scope, { TopicArn }: SnsMessage): Promise<void> => {
  const topic = await holdTopic(scope);
  if (topic?.topic_arn !== TopicArn) throw new Refusal('foreign_topic');
};

/** Holds the project's topic while a new notification of its is taken in; false for one that came before. */
export const admitNotification = async (scope: Scope, message: SnsMessage): Promise<boolean> => {
  await holdOwnTopic(scope, message);
  return isNew(scope, message);
};

/** How a topic that asks stands. A confirmation that came before is not given again: it may have been reset since. */
const lookAt = (
  deps: Deps,
  projectId: string,
  message: SnsMessage,
): Promise<'fresh' | 'taken' | 'foreign'> =>
  inProject(deps, projectId, async (scope) => {
    const topic = await holdTopic(scope);
    if (topic && topic.topic_arn !== message.TopicArn) {
      await insertChange(scope, message.TopicArn, 'refused');
      return 'foreign';
    }
    return (await isRemembered(scope, toPost(message))) ? 'taken' : 'fresh';
  });

/**
 * Confirms the subscription of a topic that asks, and makes it the project's if it has none: the first counts.
 * Nothing is kept until the service has confirmed, so that it asks again when that failed.
 */
export const confirmTopic = async (
  deps: Deps,
  network: Pick<SnsNetwork, 'confirm'>,
  projectId: string,
  message: SnsMessage,
): Promise<boolean> => {
  const standing = await lookAt(deps, projectId, message);
  if (standing === 'foreign') throw new Refusal('foreign_topic');
  if (standing === 'taken') return false;
  const confirmed = await confirmSubscription(network, message);
  if (confirmed.kind === 'unreachable') throw unreachable();
  if (confirmed.kind === 'refused')
    throw new Refusal('invalid_request', {
      detail: 'Amazon SNS did not confirm the subscription. Create it again, without raw delivery.',
    });
  const itself = asService(deps, 'amazon-ses: topic confirmed');
  const isPinned = await inProject(itself, projectId, async (scope) => {
    if (!(await pinTopic(scope, message.TopicArn, confirmed.subscriptionArn))) return false;
    if (await isNew(scope, message)) await insertChange(scope, message.TopicArn, 'confirmed');
    return true;
  });
  if (!isPinned) throw new Refusal('foreign_topic');
  return true;
};

/** Keeps that the project's topic was unsubscribed. Nobody subscribes it again but whoever owns it. */
export const closeTopic = (deps: Deps, projectId: string, message: SnsMessage): Promise<boolean> =>
  inProject(asService(deps, 'amazon-ses: topic unsubscribed'), projectId, async (scope) => {
    await holdOwnTopic(scope, message);
    if (!(await isNew(scope, message))) return false;
    await setUnsubscribed(scope, message.TopicArn);
    await insertChange(scope, message.TopicArn, 'unsubscribed');
    return true;
  });

/** Lets the next topic that asks be the project's. Without a topic it changes nothing. */
export const resetTopic = async (scope: Scope): Promise<void> => {
  const topic = await deleteTopic(scope);
  if (topic) await insertChange(scope, topic.topic_arn, 'reset');
};
