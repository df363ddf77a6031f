import { Refusal } from '../base/refusal.ts';
import { dialectOf } from './dialects/dialects.ts';
import { readObject } from './dialects/reading.ts';
import { readSnsMessage } from './sns.ts';
import type { SnsMessage } from './sns.ts';
import { checkSnsSignature, makeSnsNetwork } from './sns_network.ts';
import { AGAIN, take, toReceived } from './take.ts';
import type { Post, Received } from './take.ts';
import { PENDING_TOPIC_HOURS_MAX } from './topics/topic_limits.ts';
import {
  admitNotification,
  closeTopic,
  requestConfirmation,
  unreachable,
} from './topics/topics.ts';

const HOUR_MS = 3_600_000;

const RAW_DELIVERY =
  'This is a message of raw delivery, which bears no signature. Turn "raw message delivery" off for the ' +
  'subscription in Amazon SNS.';

/** The message of a body. Without an envelope nothing shows who sent it. */
const readMessage = ({ headers }: Post, body: unknown): SnsMessage => {
  const message = readSnsMessage(body);
  if (message) return message;
  const fields = readObject(body);
  const isBare = 'eventType' in fields || 'notificationType' in fields;
  if (isBare || headers['x-amz-sns-rawdelivery'] === 'true')
    throw new Refusal('invalid_request', { detail: RAW_DELIVERY });
  throw new Refusal('invalid_request', {
    issues: [{ path: '', message: 'not a message of Amazon SNS: a member is missing or no text' }],
  });
};

/** Headers are not signed, so they count for nothing; ones that say something else are a sign of tampering. */
const agrees = ({ headers }: Post, { Type, MessageId, TopicArn }: SnsMessage): boolean =>
  [
    ['x-amz-sns-message-type', Type],
    ['x-amz-sns-message-id', MessageId],
    ['x-amz-sns-topic-arn', TopicArn],
  ].every(([name = '', value]) => headers[name] === undefined || headers[name] === value);

const verify = async (post: Post, message: SnsMessage): Promise<void> => {
  const { deps, posted } = post;
  if (!agrees(post, message)) throw new Refusal('invalid_signature');
  const network = deps.resources.of(makeSnsNetwork, deps);
  const checked = await checkSnsSignature(network, message, posted.receivedAt);
  if (checked === 'unreachable') throw unreachable();
  if (checked === 'wrong') throw new Refusal('invalid_signature');
};

const CHANGED = { accepted: 1, duplicates: 0, ignored: 0 };
const NOTHING_READ = { notices: [], errors: [] };

/** What a message that is no notification did. */
const ofTopic = (isNew: boolean): Received => ({
  ...toReceived(NOTHING_READ, isNew ? CHANGED : AGAIN),
  received: 1,
});

/** Confirms while Amazon's token is valid: a request that is older was kept by its poster. */
const confirm = async (post: Post, message: SnsMessage): Promise<Received> => {
  const { deps, projectId, posted, isTokened, seen } = post;
  const age = posted.receivedAt.getTime() - Date.parse(message.Timestamp);
  if (!(Math.abs(age) <= PENDING_TOPIC_HOURS_MAX * HOUR_MS)) throw new Refusal('invalid_signature');
  const onListed = () => {
    seen.isListed = true;
  };
  return ofTopic(await requestConfirmation({ deps, projectId, isTokened, onListed }, message));
};

const close = async ({ deps, projectId }: Post, message: SnsMessage): Promise<Received> => {
  const isNew = await closeTopic({ deps, projectId }, message);
  if (isNew) deps.log.warn({ project_id: projectId }, 'the topic of a webhook was unsubscribed');
  return ofTopic(isNew);
};

const notify = async (post: Post, message: SnsMessage): Promise<Received> => {
  const raw = Buffer.from(message.Message);
  const result = await dialectOf(post.source).read({ ...post.posted, raw });
  const received = await take(post, result, (scope) => admitNotification(scope, message));
  return { ...received, received: Math.max(received.received, received.duplicates) };
};

/** Processes a message of Amazon SNS: signed by the service, of a topic that is confirmed for the project. */
export const receiveSns = async (post: Post, body: unknown): Promise<Received> => {
  const message = readMessage(post, body);
  await verify(post, message);
  post.seen.topicArn = message.TopicArn;
  switch (message.Type) {
    case 'SubscriptionConfirmation':
      return confirm(post, message);
    case 'UnsubscribeConfirmation':
      return close(post, message);
    case 'Notification':
      return notify(post, message);
  }
};
