import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { firstIdAt } from '../base/ids.ts';

/** How many starts of segments one transaction of the daily job checks. */
export const PRUNED_STARTS_MAX = 200;

/** Ids of runs come from the clocks of processes, and the times of a start from the clock of Postgres. */
const CLOCKS_APART_MS = 3_600_000;

const Ended = z.strictObject({
  start_id: z.uuid(),
  requested_at: z.date(),
  ended_at: z.date().nullable(),
});
type Ended = z.output<typeof Ended>;

/** The next starts, by their ids: those of a while ago come first. */
const listPast = ({ tx, projectId }: Scope, before: Date, after: string) =>
  tx.any(sql.type(Ended)`
    select start_id, requested_at, ended_at from automations.segment_starts
    where project_id = ${projectId} and start_id > ${after} and start_id < ${firstIdAt(before)}
    order by start_id
    limit ${PRUNED_STARTS_MAX}
  `);

const idNear = (at: Date, byMs: number): string => firstIdAt(new Date(at.getTime() + byMs));

/**
 * Each start is one look at the runs that its automation began meanwhile. Runs have no index by start, and any of them
 * may be one of the start.
 */
const deleteWithoutRuns = async (
  { tx, projectId }: Scope,
  starts: readonly Ended[],
  before: Date,
): Promise<number> => {
  const column = (read: (one: Ended) => string) => sql.array(starts.map(read), 'uuid');
  const { rowCount } = await tx.query(sql.unsafe`
    with old as materialized (
      select start.start_id
      from unnest(
        ${column(({ start_id }) => start_id)},
        ${column(({ requested_at }) => idNear(requested_at, -CLOCKS_APART_MS))},
        ${column(({ ended_at, requested_at }) => idNear(ended_at ?? requested_at, CLOCKS_APART_MS))}
      ) as asked (start_id, from_id, until_id)
      join automations.segment_starts as start on start.start_id = asked.start_id
      left join lateral (
        select true as is_left from automations.runs as run
        where run.project_id = ${projectId} and run.automation_id = start.automation_id
        and run.run_id between asked.from_id and asked.until_id
        order by run.run_id
        limit 1
      ) as begun on true
      where start.project_id = ${projectId} and start.status <> 'running'
      and start.ended_at < ${before.toISOString()}::timestamptz and begun.is_left is null
      for update of start skip locked
    )
    delete from automations.segment_starts as gone
    using old
    where gone.project_id = ${projectId} and gone.start_id = old.start_id
  `);
  return rowCount;
};

/**
 * Deletes the next starts of segments that ended before a moment. One that goes on stays, and one while runs are left
 * that the automation began meanwhile: they say by which occurrence they began. The occurrence of a schedule is not
 * started again: the schedule is past it.
 */
export const pruneStarts = async (
  scope: Scope,
  before: Date,
  after: string,
): Promise<{ pruned: number; after: string | null }> => {
  const page = await listPast(scope, before, after);
  const ended = page.filter(({ ended_at }) => ended_at !== null && ended_at < before);
  return {
    pruned: ended.length === 0 ? 0 : await deleteWithoutRuns(scope, ended, before),
    after: page.length < PRUNED_STARTS_MAX ? null : (page.at(-1)?.start_id ?? null),
  };
};
