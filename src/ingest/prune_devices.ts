import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { getBeginning } from './retention_queries.ts';

/** How many pairs of a device and a person one transaction of the weekly job checks. */
export const PRUNED_DEVICES_MAX = 500;

/** Where the first batch of a project begins. */
export const FIRST_DEVICE = JSON.stringify(['', '']);

const Position = z.tuple([z.string(), z.string()]);
const Pair = z.strictObject({ anonymous_id: z.string(), external_id: z.string() });
type Pair = z.output<typeof Pair>;

/** The next pairs, by their keys. */
const listPairs = (
  { tx, projectId }: Scope,
  [anonymousId, externalId]: z.output<typeof Position>,
) =>
  tx.any(sql.type(Pair)`
    select anonymous_id, external_id from ingest.devices
    where project_id = ${projectId}
    and (project_id, anonymous_id, external_id) > (${projectId}::uuid, ${anonymousId}::text, ${externalId}::text)
    order by project_id, anonymous_id, external_id
    limit ${PRUNED_DEVICES_MAX}
  `);

const deleteUnseen = async (
  { tx, projectId }: Scope,
  pairs: readonly Pair[],
  before: string,
): Promise<number> => {
  const column = (read: (pair: Pair) => string) => sql.array(pairs.map(read), 'text');
  const { rowCount } = await tx.query(sql.unsafe`
    with old as materialized (
      select known.anonymous_id, known.external_id
      from unnest(
        ${column((pair) => pair.anonymous_id)}, ${column((pair) => pair.external_id)}
      ) as asked (anonymous_id, external_id)
      join ingest.devices as known
        on known.anonymous_id = asked.anonymous_id and known.external_id = asked.external_id
      where known.project_id = ${projectId} and known.last_month < ${before}::date
      for update of known skip locked
    )
    delete from ingest.devices as device
    using old
    where device.project_id = ${projectId} and device.anonymous_id = old.anonymous_id
    and device.external_id = old.external_id
  `);
  return rowCount;
};

/**
 * Returns the first month that pairs are kept of: the one before the oldest month of the timeline, however late that
 * was dropped. Pairs from before their month was written have the month of the migration, and an event may be of the
 * next one by hours.
 */
const findBound = async (scope: Scope): Promise<string> => {
  const { begins_at: begins } = await getBeginning(scope);
  const month = new Date(Date.UTC(begins.getUTCFullYear(), begins.getUTCMonth() - 1, 1));
  return month.toISOString().slice(0, 10);
};

/**
 * Deletes the next pairs of a device and a person whose events are all gone with their months: an erase of the device
 * has nothing to look for any more. A pair that is being changed is left for the next time.
 */
export const pruneDevices = async (
  scope: Scope,
  after: string,
): Promise<{ pruned: number; after: string | null }> => {
  const page = await listPairs(scope, Position.parse(JSON.parse(after)));
  const pruned = page.length === 0 ? 0 : await deleteUnseen(scope, page, await findBound(scope));
  const last = page.at(-1);
  const isEnd = page.length < PRUNED_DEVICES_MAX || last === undefined;
  return {
    pruned,
    after: isEnd ? null : JSON.stringify([last.anonymous_id, last.external_id]),
  };
};
