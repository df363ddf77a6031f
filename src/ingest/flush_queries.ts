import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';

/** How many events the flushes of one claim hold together, the last of them perhaps more: ten full flushes. */
export const CLAIM_EVENTS_MAX = 5_000;

const ClaimedFlush = z.strictObject({ flush_id: z.uuid(), events: z.int() });

/** The ids of the flushes that are taken, and whether there may be more than fitted. */
export const claimFlushes = async (
  { tx, projectId }: Scope,
  flushesMax: number,
  eventsMax = CLAIM_EVENTS_MAX,
): Promise<{ flushIds: string[]; isMore: boolean }> => {
  const rows = await tx.any(sql.type(ClaimedFlush)`
    select claimed.flush_id, waiting.events
    from ingest.claim_flushes(project_id => ${projectId}, flushes_max => ${flushesMax}, events_max => ${eventsMax})
      as claimed (flush_id)
    cross join lateral (
      select cardinality(pending.event_ids) as events from ingest.pending
      where pending.project_id = ${projectId} and pending.flush_id = claimed.flush_id
      limit 1
    ) as waiting
    order by claimed.flush_id
  `);
  const events = rows.reduce((sum, row) => sum + row.events, 0);
  const isMore = rows.length >= flushesMax || events >= eventsMax;
  return { flushIds: rows.map(({ flush_id }) => flush_id), isMore };
};

export const deleteFlushes = ({ tx, projectId }: Scope, flushIds: string[]) =>
  tx.query(sql.unsafe`
    delete from ingest.pending
    where project_id = ${projectId} and flush_id = any (${sql.array(flushIds, 'uuid')})
  `);

const IsSplit = z.strictObject({ split_flush: z.boolean() });

/** Puts two halves in the place of a flush of several events; answers whether it held several. */
export const splitFlush = async (
  { tx, projectId }: Scope,
  flushId: string,
  [firstId, secondId]: [string, string],
): Promise<boolean> => {
  const { split_flush } = await tx.one(sql.type(IsSplit)`
    select split_flush from ingest.split_flush(
      project_id => ${projectId}, flush_id => ${flushId}, first_id => ${firstId}, second_id => ${secondId}
    )
  `);
  return split_flush;
};

export const POSTPONE_MAX_SECONDS = 3_600;

const Postponed = z.strictObject({
  event_id: z.uuid(),
  failure_count: z.int(),
  retry_at: z.date(),
});
export type Postponed = z.output<typeof Postponed>;

const Failures = z.strictObject({ failure_count: z.int() });

/** Puts a flush of one event off, for a second and twice as long each time, at most for an hour. */
export const postponeFlush = async (
  { tx, projectId }: Scope,
  flushId: string,
): Promise<Postponed> => {
  const { failure_count: before } = await tx.one(sql.type(Failures)`
    select failure_count from ingest.pending
    where project_id = ${projectId} and flush_id = ${flushId}
    for update
  `);
  return tx.one(sql.type(Postponed)`
    update ingest.pending
    set failure_count = failure_count + 1,
      retry_at = statement_timestamp() + make_interval(secs => ${Math.min(2 ** before, POSTPONE_MAX_SECONDS)})
    where project_id = ${projectId} and flush_id = ${flushId}
    returning event_ids[1] as event_id, failure_count, retry_at
  `);
};
