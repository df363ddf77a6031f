import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { newId } from '../base/ids.ts';

const Topic = z.strictObject({
  topic_arn: z.string(),
  confirmed_at: z.date(),
  unsubscribed_at: z.date().nullable(),
});
export type Topic = z.output<typeof Topic>;

/** The topic whose notices count, which stays so until the transaction ends. */
export const holdTopic = ({ tx, projectId }: Scope) =>
  tx.maybeOne(sql.type(Topic)`
    select topic_arn, confirmed_at, unsubscribed_at from feedback.topics where project_id = ${projectId} for share
  `);

const Pinned = z.strictObject({ topic_arn: z.string() });

/** Makes a topic the one that counts, unless another is; answers whether it is. */
export const pinTopic = async (
  { tx, projectId }: Scope,
  topicArn: string,
  subscriptionArn: string,
): Promise<boolean> => {
  const pinned = await tx.maybeOne(sql.type(Pinned)`
    insert into feedback.topics as topic (project_id, topic_arn, subscription_arn, confirmed_at)
    values (${projectId}, ${topicArn}, ${subscriptionArn}, now())
    on conflict on constraint topics_pkey do update
    set subscription_arn = excluded.subscription_arn, confirmed_at = excluded.confirmed_at, unsubscribed_at = null
    where topic.topic_arn = excluded.topic_arn
    returning topic.topic_arn
  `);
  return pinned !== null;
};

/** Keeps that a topic sends nothing any more, by its own word. */
export const setUnsubscribed = ({ tx, projectId }: Scope, topicArn: string) =>
  tx.query(sql.unsafe`
    update feedback.topics set unsubscribed_at = now() where project_id = ${projectId} and topic_arn = ${topicArn}
  `);

/** Forgets which topic counts: the next one that asks is confirmed. */
export const deleteTopic = ({ tx, projectId }: Scope) =>
  tx.maybeOne(sql.type(Pinned)`
    delete from feedback.topics where project_id = ${projectId} returning topic_arn
  `);

const Change = z.strictObject({
  topic_arn: z.string(),
  change: z.enum(['confirmed', 'refused', 'unsubscribed', 'reset']),
  changed_at: z.date(),
});
export type TopicChange = z.output<typeof Change>;

/** Anybody can have a topic of theirs ask: so many refusals are kept. */
const REFUSED_MAX = 100;

export const insertChange = (
  { tx, projectId }: Scope,
  topicArn: string,
  change: TopicChange['change'],
) =>
  tx.query(sql.unsafe`
    insert into feedback.topic_changes (project_id, change_id, topic_arn, change, changed_at)
    select ${projectId}, ${newId()}, ${topicArn}, ${change}, now()
    where ${change} <> 'refused' or not exists (
      select from feedback.topic_changes as refused
      where refused.project_id = ${projectId} and refused.change = 'refused'
      offset ${REFUSED_MAX - 1}
    )
  `);

/** What became of topics, the newest first: ids are time-ordered. */
export const listChanges = ({ tx, projectId }: Scope, limit: number) =>
  tx.any(sql.type(Change)`
    select topic_arn, change, changed_at from feedback.topic_changes
    where project_id = ${projectId}
    order by change_id desc
    limit ${limit}
  `);
