import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { addRefusedTopics } from './topics/refused_topics.ts';
import type { RefusedTopic } from './topics/refused_topics.ts';

/** Posts to one webhook that were refused, some of them or all; and which of them known topics had signed. */
export type Refused = RefusedTopic & { topics: ReadonlyMap<string, RefusedTopic> };

const Row = z.strictObject({
  refused_count: z.coerce.number(),
  last_reason: z.string(),
  last_refused_at: z.date(),
});

/** Posts to a webhook that were refused; null when none ever was. */
export const findRefused = ({ tx, projectId }: Scope, source: string) =>
  tx.maybeOne(sql.type(Row)`
    select refused_count, last_reason, last_refused_at from feedback.refusals
    where project_id = ${projectId} and source = ${source}
  `);

/** Adds to what is known of a webhook: several processes count the posts that they refused. */
export const addRefused = async (
  scope: Scope,
  source: string,
  { count, lastReason, lastAt, topics }: Refused,
): Promise<void> => {
  const { tx, projectId } = scope;
  await addRefusedTopics(scope, topics);
  await tx.query(sql.unsafe`
    insert into feedback.refusals as refusal (project_id, source, refused_count, last_reason, last_refused_at)
    values (${projectId}, ${source}, ${count}, ${lastReason}, ${sql.timestamp(lastAt)})
    on conflict on constraint refusals_pkey do update
    set refused_count = refusal.refused_count + excluded.refused_count,
      last_reason = case when excluded.last_refused_at < refusal.last_refused_at then refusal.last_reason
        else excluded.last_reason end,
      last_refused_at = greatest(refusal.last_refused_at, excluded.last_refused_at)
  `);
};
