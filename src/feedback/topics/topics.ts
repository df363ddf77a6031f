import { asService, withoutAudit } from '../../base/audit.ts';
import { inProject } from '../../base/db.ts';
import type { Scope } from '../../base/db.ts';
import type { Deps } from '../../base/deps.ts';
import { Refusal } from '../../base/refusal.ts';
import { isRemembered, rememberPost } from '../posts.ts';
import { toCanonical } from '../sns.ts';
import type { SnsMessage } from '../sns.ts';
import { confirmSubscription, makeSnsNetwork } from '../sns_network.ts';
import { deleteRefusedTopic } from './refused_topics.ts';
import { isAlerted, settlePending } from './topic_alerts.ts';
import {
  CONFIRMED_TOPICS_MAX,
  hasRoom,
  PENDING_TOPIC_HOURS_MAX,
  PENDING_TOPICS_MAX,
  PENDING_TOPICS_PER_ACCOUNT_MAX,
  TOPICS_REJECTED_AT_ONCE_MAX,
} from './topic_limits.ts';
import {
  deleteExpiredTopics,
  insertChange,
  listTopics,
  lockTopic,
  lockTopics,
  markConfirming,
  setUnsubscribed,
  upsertConfirmed,
  upsertPending,
} from './topic_queries.ts';
import type { Confirmation, Request, TopicRow } from './topic_queries.ts';

const SOURCE = 'amazon-ses';
export const UNREACHABLE_RETRY_SECONDS = 10;
/** Longer than a confirmation at Amazon takes, with its time-out. */
export const CONFIRMING_SECONDS = 30;

export const unreachable = (detail = 'Amazon SNS cannot be reached at the moment.'): Refusal =>
  new Refusal('unavailable', {
    retryAfterSeconds: UNREACHABLE_RETRY_SECONDS,
    detail: `${detail} Retry after Retry-After.`,
  });

const toPost = (message: SnsMessage) => ({
  source: SOURCE,
  id: message.MessageId,
  said: toCanonical(message),
});

/** Whether a message is new; the same one again changes nothing. */
const isNew = async (scope: Scope, message: SnsMessage): Promise<boolean> =>
  (await rememberPost(scope, toPost(message))) === 'new';

/** Refuses a message of a topic that is not confirmed; asks to repeat one that is being confirmed at this moment. */
const requireConfirmed = async (scope: Scope, { TopicArn }: SnsMessage): Promise<void> => {
  const topic = await lockTopic(scope, TopicArn);
  if (topic?.status === 'confirmed') return;
  if (topic?.is_confirming === true) throw unreachable('This topic is being confirmed.');
  throw new Refusal('foreign_topic');
};

/** Locks the topic of a new notification while its effects are written; false for a notification that came before. */
export const admitNotification = async (scope: Scope, message: SnsMessage): Promise<boolean> => {
  await requireConfirmed(scope, message);
  return isNew(scope, message);
};

/** Lists a project's topics under the lock of their list, without those whose time to be approved is over. */
export const openTopics = async (scope: Scope): Promise<readonly TopicRow[]> => {
  await lockTopics(scope);
  const expired = await deleteExpiredTopics(scope, PENDING_TOPIC_HOURS_MAX);
  if (expired.length > 0) await settlePending(scope);
  return listTopics(scope);
};

/** Deletes the topics of a project whose time to be approved is over, where any may wait. */
export const expireTopics = async (scope: Scope): Promise<void> => {
  if (await isAlerted(scope)) await openTopics(scope);
};

const arnsOf = (topics: readonly TopicRow[], ...statuses: TopicRow['status'][]): string[] =>
  topics.filter(({ status }) => statuses.includes(status)).map(({ topic_arn }) => topic_arn);

/** Refuses one more confirmed topic than a project may have. */
export const requireRoom = (topics: readonly TopicRow[], topicArn: string): void => {
  const others = arnsOf(topics, 'confirmed').filter((arn) => arn !== topicArn);
  if (others.length >= CONFIRMED_TOPICS_MAX) throw new Refusal('too_many_topics');
};

/** Whether a topic without the token may be listed as pending: strangers of one AWS account get a few places only. */
const mayWait = (topics: readonly TopicRow[], topicArn: string): boolean =>
  arnsOf(topics, 'pending').length < PENDING_TOPICS_MAX &&
  hasRoom(arnsOf(topics, 'pending', 'rejected'), topicArn, {
    max: Infinity,
    perAccountMax: PENDING_TOPICS_PER_ACCOUNT_MAX,
  });

const toRequest = ({ TopicArn, Timestamp, Token = '' }: SnsMessage): Request => ({
  topicArn: TopicArn,
  askedAt: new Date(Timestamp),
  token: Token,
});

/** How a topic that asks to be confirmed stands. */
type Standing = 'confirm' | 'known' | 'waits' | 'rejected' | 'no_room';

/** The token proves the owner, so a full list of strangers' topics does not matter. */
const admitTokened = async (
  scope: Scope,
  topics: readonly TopicRow[],
  request: Request,
): Promise<Standing> => {
  requireRoom(topics, request.topicArn);
  if (arnsOf(topics, 'pending').length < TOPICS_REJECTED_AT_ONCE_MAX)
    await upsertPending(scope, request);
  await markConfirming(scope, request.topicArn, CONFIRMING_SECONDS);
  return 'confirm';
};

const admitRequest = async (
  scope: Scope,
  message: SnsMessage,
  isTokened: boolean,
): Promise<Standing> => {
  const topics = await openTopics(scope);
  if (await isRemembered(scope, toPost(message))) return 'known';
  const request = toRequest(message);
  if (isTokened) return admitTokened(scope, topics, request);
  const topic = topics.find(({ topic_arn }) => topic_arn === request.topicArn);
  // An owner decided about it before: it was subscribed again, or in addition.
  if (topic?.status === 'confirmed') return 'confirm';
  if (topic?.status === 'rejected') return 'rejected';
  if (!topic && !mayWait(topics, request.topicArn)) return 'no_room';
  await upsertPending(scope, request);
  await settlePending(scope);
  return 'waits';
};

const WITH_TOKEN =
  'To confirm it without approval, subscribe with the webhook token in the URL: ?token=svc_hook_live_…';
const REFUSED_REQUESTS = {
  waits: `The topic waits for approval in Settings, Webhooks. ${WITH_TOKEN}`,
  rejected: `An owner rejected this topic. ${WITH_TOKEN}`,
  no_room: `Too many topics wait for approval. ${WITH_TOKEN}`,
};

/** Asks Amazon to confirm, with the token that it gave out. Doing it twice is doing it once. */
export const confirmAtAmazon = async (
  deps: Deps,
  { topicArn, token }: Request,
): Promise<string> => {
  const network = deps.resources.of(makeSnsNetwork, deps);
  const confirmed = await confirmSubscription(network, { TopicArn: topicArn, Token: token });
  if (confirmed.kind === 'unreachable') throw unreachable();
  if (confirmed.kind === 'refused') throw new Refusal('topic_not_confirmed');
  return confirmed.subscriptionArn;
};

/** Writes that a topic is confirmed. Its refused posts of before need no attention any more. */
export const keepConfirmed = async (scope: Scope, confirmation: Confirmation): Promise<void> => {
  await upsertConfirmed(scope, confirmation);
  await settlePending(scope);
  await deleteRefusedTopic(scope, confirmation.topicArn);
};

type Where = { deps: Deps; projectId: string };
type Asking = Where & { isTokened: boolean; onListed: () => void };

/**
 * Confirms the subscription of a topic that asks with the webhook token, or that an owner approved before. Any other
 * topic is listed for approval and refused, with a challenge: Amazon sends the password in a URL only after one.
 * Nothing is confirmed here until Amazon has confirmed, so that it asks again when that failed.
 */
export const requestConfirmation = async (
  asking: Asking,
  message: SnsMessage,
): Promise<boolean> => {
  const { deps, projectId, isTokened } = asking;
  const standing = await inProject(withoutAudit(deps), projectId, (scope) =>
    admitRequest(scope, message, isTokened),
  );
  if (standing === 'known') return false;
  if (standing === 'waits') asking.onListed();
  if (standing !== 'confirm')
    throw new Refusal('topic_needs_approval', { detail: REFUSED_REQUESTS[standing] });

  const request = toRequest(message);
  const subscriptionArn = await confirmAtAmazon(deps, request);
  const itself = asService(deps, 'amazon-ses: topic confirmed');
  await inProject(itself, projectId, async (scope) => {
    const topics = await openTopics(scope);
    if (isTokened) requireRoom(topics, request.topicArn);
    else if (!arnsOf(topics, 'confirmed').includes(request.topicArn))
      throw new Refusal('foreign_topic');
    await keepConfirmed(scope, { ...request, subscriptionArn, by: 'token' });
    if (await isNew(scope, message)) await insertChange(scope, request.topicArn, 'confirmed');
  });
  return true;
};

/** Records that a topic was unsubscribed at Amazon. Only its owner subscribes it again; other topics stay. */
export const closeTopic = (where: Where, message: SnsMessage): Promise<boolean> =>
  inProject(
    asService(where.deps, 'amazon-ses: topic unsubscribed'),
    where.projectId,
    async (scope) => {
      await lockTopics(scope);
      await requireConfirmed(scope, message);
      if (!(await isNew(scope, message))) return false;
      await setUnsubscribed(scope, message.TopicArn);
      await insertChange(scope, message.TopicArn, 'unsubscribed');
      return true;
    },
  );
