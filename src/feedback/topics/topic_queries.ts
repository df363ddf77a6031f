import { z } from 'zod';
import { sql } from '../../base/db.ts';
import type { Scope } from '../../base/db.ts';
import { newId } from '../../base/ids.ts';

const Topic = z.strictObject({
  topic_id: z.uuid(),
  topic_arn: z.string(),
  status: z.enum(['pending', 'rejected', 'confirmed']),
  first_asked_at: z.date(),
  last_asked_at: z.date(),
  confirm_token: z.string().nullable(),
  is_confirming: z.boolean(),
  confirmed_by: z.enum(['token', 'approval']).nullable(),
  confirmed_at: z.date().nullable(),
  unsubscribed_at: z.date().nullable(),
});
export type TopicRow = z.output<typeof Topic>;

const columns = sql.fragment`topic_id, topic_arn, status, first_asked_at, last_asked_at, confirm_token,
  coalesce(confirming_until > now(), false) as is_confirming, confirmed_by, confirmed_at, unsubscribed_at`;

/**
 * Locks the list of a project's topics until the transaction ends, and creates the list at first. Code that counts
 * topics before it adds one needs this lock: it cannot lock a topic that does not exist yet.
 */
export const lockTopics = async ({ tx, projectId }: Scope): Promise<void> => {
  await tx.query(sql.unsafe`
    insert into feedback.topic_lists (project_id) values (${projectId}) on conflict (project_id) do nothing
  `);
  await tx.query(sql.unsafe`
    select from feedback.topic_lists where project_id = ${projectId} for no key update
  `);
};

/** Lists every topic of a project. The limits of each status bound the list. */
export const listTopics = ({ tx, projectId }: Scope) =>
  tx.any(sql.type(Topic)`
    select ${columns} from feedback.topics where project_id = ${projectId} order by first_asked_at, topic_id
  `);

/** Returns a topic, which keeps its status until the transaction ends. */
export const lockTopic = ({ tx, projectId }: Scope, topicArn: string) =>
  tx.maybeOne(sql.type(Topic)`
    select ${columns} from feedback.topics where project_id = ${projectId} and topic_arn = ${topicArn} for share
  `);

const Deleted = z.strictObject({ topic_arn: z.string() });

/** Deletes pending topics whose token at Amazon has expired; returns them. */
export const deleteExpiredTopics = ({ tx, projectId }: Scope, hours: number) =>
  tx.any(sql.type(Deleted)`
    delete from feedback.topics
    where project_id = ${projectId} and status = 'pending' and last_asked_at <= now() - make_interval(hours => ${hours})
    returning topic_arn
  `);

/** A request for confirmation: the topic, when it asked by Amazon's clock, and the token that confirms it. */
export type Request = { topicArn: string; askedAt: Date; token: string };

/** Inserts a pending topic, or gives it the token of its newest request. */
export const upsertPending = ({ tx, projectId }: Scope, { topicArn, askedAt, token }: Request) =>
  tx.query(sql.unsafe`
    insert into feedback.topics as topic (project_id, topic_arn, topic_id, status, first_asked_at, last_asked_at,
      confirm_token)
    values (${projectId}, ${topicArn}, ${newId()}, 'pending', ${sql.timestamp(askedAt)}, ${sql.timestamp(askedAt)},
      ${token})
    on conflict on constraint topics_pkey do update
    set last_asked_at = excluded.last_asked_at, confirm_token = excluded.confirm_token
    where topic.status = 'pending' and topic.last_asked_at < excluded.last_asked_at
  `);

/** Marks a pending topic as being confirmed at Amazon just now: its first notifications may arrive before we commit. */
export const markConfirming = ({ tx, projectId }: Scope, topicArn: string, seconds: number) =>
  tx.query(sql.unsafe`
    update feedback.topics set confirming_until = now() + make_interval(secs => ${seconds})
    where project_id = ${projectId} and topic_arn = ${topicArn} and status = 'pending'
  `);

export type Confirmation = Request & { subscriptionArn: string; by: 'token' | 'approval' };

/** Makes a topic a confirmed one, whatever it was. A topic that was confirmed before keeps by what. */
export const upsertConfirmed = (
  { tx, projectId }: Scope,
  { topicArn, askedAt, subscriptionArn, by }: Confirmation,
) =>
  tx.query(sql.unsafe`
    insert into feedback.topics as topic (project_id, topic_arn, topic_id, status, first_asked_at, last_asked_at,
      subscription_arn, confirmed_by, confirmed_at)
    values (${projectId}, ${topicArn}, ${newId()}, 'confirmed', ${sql.timestamp(askedAt)}, ${sql.timestamp(askedAt)},
      ${subscriptionArn}, ${by}, now())
    on conflict on constraint topics_pkey do update
    set status = 'confirmed', last_asked_at = excluded.last_asked_at, confirm_token = null, confirming_until = null,
      rejected_at = null, subscription_arn = excluded.subscription_arn,
      confirmed_by = coalesce(topic.confirmed_by, excluded.confirmed_by), confirmed_at = excluded.confirmed_at,
      unsubscribed_at = null
  `);

/** Rejects pending topics: they are not listed again until the token confirms them. */
export const setRejected = ({ tx, projectId }: Scope, topicIds: readonly string[]) =>
  tx.query(sql.unsafe`
    update feedback.topics
    set status = 'rejected', rejected_at = now(), confirm_token = null, confirming_until = null
    where project_id = ${projectId} and topic_id = any (${sql.array([...topicIds], 'uuid')}) and status = 'pending'
  `);

/** Deletes the oldest rejected topics past the newest `keptMax`. */
export const deleteOldRejected = ({ tx, projectId }: Scope, keptMax: number) =>
  tx.query(sql.unsafe`
    delete from feedback.topics
    where project_id = ${projectId} and topic_id in (
      select old.topic_id from feedback.topics as old
      where old.project_id = ${projectId} and old.status = 'rejected'
      order by old.rejected_at desc, old.topic_id desc
      offset ${keptMax}
    )
  `);

/** Records that a topic sends nothing any more, because Amazon said so. */
export const setUnsubscribed = ({ tx, projectId }: Scope, topicArn: string) =>
  tx.query(sql.unsafe`
    update feedback.topics set unsubscribed_at = now()
    where project_id = ${projectId} and topic_arn = ${topicArn} and status = 'confirmed'
  `);

/** Deletes a confirmed topic; null when there is none. */
export const deleteConfirmed = ({ tx, projectId }: Scope, topicId: string) =>
  tx.maybeOne(sql.type(Deleted)`
    delete from feedback.topics
    where project_id = ${projectId} and topic_id = ${topicId} and status = 'confirmed'
    returning topic_arn
  `);

export const TOPIC_CHANGES = [
  'confirmed',
  'approved',
  'rejected',
  'removed',
  'unsubscribed',
] as const;

const Change = z.strictObject({
  topic_arn: z.string(),
  change: z.enum(TOPIC_CHANGES),
  changed_at: z.date(),
});
export type TopicChange = z.output<typeof Change>;

export const insertChange = (
  { tx, projectId }: Scope,
  topicArn: string,
  change: TopicChange['change'],
) =>
  tx.query(sql.unsafe`
    insert into feedback.topic_changes (project_id, change_id, topic_arn, change, changed_at)
    values (${projectId}, ${newId()}, ${topicArn}, ${change}, now())
  `);

/** Lists the changes of topics, the newest first: ids are time-ordered. */
export const listChanges = ({ tx, projectId }: Scope, limit: number) =>
  tx.any(sql.type(Change)`
    select topic_arn, change, changed_at from feedback.topic_changes
    where project_id = ${projectId}
    order by change_id desc
    limit ${limit}
  `);
