import { z } from 'zod';
import { sql } from '../../base/db.ts';
import type { Scope } from '../../base/db.ts';
import type { RefusalName } from '../../base/refusal.ts';
import {
  hasRoom,
  REFUSED_TOPIC_DAYS_MAX,
  REFUSED_TOPICS_MAX,
  REFUSED_TOPICS_PER_ACCOUNT_MAX,
} from './topic_limits.ts';
import { lockTopics } from './topic_queries.ts';

/** How often posts of one topic were refused, and why the last one was. */
export type RefusedTopic = { count: number; lastReason: RefusalName; lastAt: Date };

const Row = z.strictObject({
  topic_arn: z.string(),
  refused_count: z.coerce.number(),
  last_reason: z.string(),
  last_refused_at: z.date(),
});

/** Lists the topics whose signed posts were refused, the last refused first. */
export const listRefusedTopics = ({ tx, projectId }: Scope) =>
  tx.any(sql.type(Row)`
    select topic_arn, refused_count, last_reason, last_refused_at from feedback.refused_topics
    where project_id = ${projectId}
    order by last_refused_at desc, topic_arn
    limit ${REFUSED_TOPICS_MAX}
  `);

/** Deletes what is known of a topic's refused posts. */
export const deleteRefusedTopic = ({ tx, projectId }: Scope, topicArn: string) =>
  tx.query(sql.unsafe`
    delete from feedback.refused_topics where project_id = ${projectId} and topic_arn = ${topicArn}
  `);

const deleteOld = ({ tx, projectId }: Scope) =>
  tx.query(sql.unsafe`
    delete from feedback.refused_topics
    where project_id = ${projectId} and last_refused_at < now() - make_interval(days => ${REFUSED_TOPIC_DAYS_MAX})
  `);

const upsert = (
  { tx, projectId }: Scope,
  topicArn: string,
  { count, lastReason, lastAt }: RefusedTopic,
) =>
  tx.query(sql.unsafe`
    insert into feedback.refused_topics as refused (project_id, topic_arn, refused_count, last_reason, last_refused_at)
    values (${projectId}, ${topicArn}, ${count}, ${lastReason}, ${sql.timestamp(lastAt)})
    on conflict on constraint refused_topics_pkey do update
    set refused_count = refused.refused_count + excluded.refused_count,
      last_reason = case when excluded.last_refused_at < refused.last_refused_at then refused.last_reason
        else excluded.last_reason end,
      last_refused_at = greatest(refused.last_refused_at, excluded.last_refused_at)
  `);

const ROOM = { max: REFUSED_TOPICS_MAX, perAccountMax: REFUSED_TOPICS_PER_ACCOUNT_MAX };

/** Adds refused posts of topics. A topic past the limits is not listed; no listed topic gives its place to it. */
export const addRefusedTopics = async (
  scope: Scope,
  refused: ReadonlyMap<string, RefusedTopic>,
): Promise<void> => {
  if (refused.size === 0) return;
  await lockTopics(scope);
  await deleteOld(scope);
  const listed = (await listRefusedTopics(scope)).map(({ topic_arn }) => topic_arn);
  for (const [topicArn, one] of refused) {
    if (!listed.includes(topicArn)) {
      if (!hasRoom(listed, topicArn, ROOM)) continue;
      listed.push(topicArn);
    }
    await upsert(scope, topicArn, one);
  }
};
