import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';

/** How many feedback events one transaction of the daily job deletes. */
export const PRUNED_NOTICES_MAX = 1_000;

const Source = z.strictObject({ source: z.string() });

/**
 * Deletes the oldest feedback events of the next source from before a moment. What they led to stays: suppressions,
 * tags and facts of sends. Returns how many went, and the source after which the next batch begins; null at the end.
 */
export const pruneNotices = async (
  { tx, projectId }: Scope,
  before: Date,
  after: string,
): Promise<{ pruned: number; after: string | null }> => {
  const next = await tx.maybeOne(sql.type(Source)`
    select source from feedback.notices where project_id = ${projectId} and source > ${after}
    order by source
    limit 1
  `);
  if (!next) return { pruned: 0, after: null };
  const { rowCount } = await tx.query(sql.unsafe`
    delete from feedback.notices
    where project_id = ${projectId} and source = ${next.source} and dedupe_key in (
      select old.dedupe_key from feedback.notices as old
      where old.project_id = ${projectId} and old.source = ${next.source}
      and old.received_at < ${before.toISOString()}::timestamptz
      order by old.received_at
      limit ${PRUNED_NOTICES_MAX}
    )
  `);
  return { pruned: rowCount, after: rowCount < PRUNED_NOTICES_MAX ? next.source : after };
};
