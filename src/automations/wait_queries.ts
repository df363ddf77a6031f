import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { nowInMs } from '../base/now_in_ms.ts';

export type NewWait = {
  runId: string;
  forWhat: 'step' | 'goal' | 'date';
  event: string | null;
  segmentId: string | null;
  identityId: string;
};

const RunId = z.strictObject({ run_id: z.uuid() });

/**
 * Stores what wakes runs before their time. Returns the runs of which that was not known: what was processed before
 * the commit has not woken them, so they look once more after it.
 */
export const insertWaits = async (
  { tx, projectId }: Scope,
  waits: readonly NewWait[],
): Promise<Set<string>> => {
  if (waits.length === 0) return new Set();
  const column = (read: (wait: NewWait) => string | null, type: string) =>
    sql.array(waits.map(read), type);
  const rows = await tx.any(sql.type(RunId)`
    insert into automations.waits (project_id, run_id, for_what, event_name, segment_id, identity_id)
    select ${projectId}, told.run_id, told.for_what, told.event_name, told.segment_id, told.identity_id
    from unnest(
      ${column(({ runId }) => runId, 'uuid')}, ${column(({ forWhat }) => forWhat, 'text')},
      ${column(({ event }) => event, 'text')}, ${column(({ segmentId }) => segmentId, 'uuid')},
      ${column(({ identityId }) => identityId, 'uuid')}
    ) as told (run_id, for_what, event_name, segment_id, identity_id)
    on conflict do nothing
    returning run_id
  `);
  return new Set(rows.map(({ run_id }) => run_id));
};

/** Deletes what runs wait for: only at their steps, or all of it. */
export const deleteWaits = async (
  { tx, projectId }: Scope,
  runIds: readonly string[],
  forWhat: 'step' | 'all' = 'all',
): Promise<void> => {
  if (runIds.length === 0) return;
  const areDeleted = forWhat === 'step' ? sql.fragment`for_what <> 'goal'` : sql.fragment`true`;
  await tx.query(sql.unsafe`
    delete from automations.waits
    where project_id = ${projectId} and run_id = any (${sql.array([...runIds], 'uuid')}) and ${areDeleted}
  `);
};

const Awaited = z.strictObject({
  name: z.string(),
  external_id: z.string().nullable(),
  anonymous_id: z.string().nullable(),
});

/** Whose events of some flushes have a name that some run waits for. Most events have none; where nobody
 * waits at all, no event is looked at. */
export const listAwaited = ({ tx, projectId }: Scope, flushIds: readonly string[]) =>
  tx.any(sql.type(Awaited)`
    select distinct event.name, event.external_id, event.anonymous_id
    from ingest.pending_events(project_id => ${projectId}, flush_ids => ${sql.array([...flushIds], 'uuid')}) as event
    where exists (select from automations.waits as waiting where waiting.project_id = ${projectId})
    and exists (
      select from automations.waits as awaited
      where awaited.project_id = ${projectId} and awaited.event_name = event.name
    )
    and ingest.counts(event.name, event.source)
  `);

const wakeHeld = async (
  { tx, projectId }: Scope,
  waiting: ReturnType<typeof sql.fragment>,
  dueAt: ReturnType<typeof sql.fragment> = nowInMs,
): Promise<string[]> => {
  const held = await tx.any(sql.type(RunId)`
    select run.run_id from automations.runs as run
    where run.project_id = ${projectId} and run.status = 'active' and run.run_id in (${waiting})
    order by run.run_id
    for no key update
  `);
  const runIds = held.map(({ run_id }) => run_id);
  if (runIds.length === 0) return [];
  // Not rounded up to a millisecond that has yet to come: who looks for what is due may be the very next statement.
  await tx.query(sql.unsafe`
    update automations.runs as run set wake_at = ${dueAt}, goes_first = true
    where project_id = ${projectId} and run_id = any (${sql.array(runIds, 'uuid')})
  `);
  return runIds;
};

/** Wakes the runs of some people that wait for an event of a name. Returns their ids. */
export const wakeRuns = (
  scope: Scope,
  names: readonly string[],
  identityIds: readonly string[],
): Promise<string[]> =>
  wakeHeld(
    scope,
    sql.fragment`
      select awaited.run_id from automations.waits as awaited
      where awaited.project_id = ${scope.projectId}
      and awaited.event_name = any (${sql.array([...names], 'text')})
      and awaited.identity_id = any (${sql.array([...identityIds], 'uuid')})`,
  );

/**
 * Wakes the runs of some people that wait for a date of the person. Returns their ids. They are due at once, or since
 * the time that is given for their identity.
 */
export const wakeDates = (
  scope: Scope,
  identityIds: readonly string[],
  since: ReadonlyMap<string, Date> = new Map(),
): Promise<string[]> => {
  const times = [...since.values()].map((at) => at.toISOString());
  return wakeHeld(
    scope,
    sql.fragment`
      select awaited.run_id from automations.waits as awaited
      where awaited.project_id = ${scope.projectId} and awaited.for_what = 'date'
      and awaited.identity_id = any (${sql.array([...identityIds], 'uuid')})`,
    sql.fragment`least(${nowInMs}, (
      select known.due_at
      from unnest(${sql.array([...since.keys()], 'uuid')}, ${sql.array(times, 'timestamptz')})
        as known (identity_id, due_at)
      where known.identity_id = run.identity_id
    ))`,
  );
};

/** Wakes the runs of some people that wait for anything. Returns their ids. */
export const wakeWaiting = (scope: Scope, identityIds: readonly string[]): Promise<string[]> =>
  wakeHeld(
    scope,
    sql.fragment`
      select awaited.run_id from automations.waits as awaited
      where awaited.project_id = ${scope.projectId}
      and awaited.identity_id = any (${sql.array([...identityIds], 'uuid')})`,
  );

/** Wakes the runs of some people that wait for them to enter a segment. Returns their ids. */
export const wakeEntered = async (
  scope: Scope,
  entered: readonly { segmentId: string; identityId: string }[],
): Promise<string[]> => {
  if (entered.length === 0) return [];
  const column = (name: 'segmentId' | 'identityId') =>
    sql.array(
      entered.map((one) => one[name]),
      'uuid',
    );
  return wakeHeld(
    scope,
    sql.fragment`
      select awaited.run_id
      from unnest(${column('segmentId')}, ${column('identityId')}) as entered (segment_id, identity_id)
      join automations.waits as awaited
        on awaited.segment_id = entered.segment_id and awaited.identity_id = entered.identity_id
      where awaited.project_id = ${scope.projectId}`,
  );
};
