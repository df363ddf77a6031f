import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { AUTOMATION_STATUSES, DELETING } from './queries.ts';
import type { Definition } from './schema.ts';

const DueRun = z.strictObject({
  run_id: z.uuid(),
  automation_id: z.uuid(),
  version: z.int(),
  identity_id: z.uuid(),
  step_id: z.string(),
  until: z.date().nullable(),
  wake_at: z.date(),
  trigger_event_id: z.uuid().nullable(),
  trigger_event_at: z.date().nullable(),
  trigger_entry: z.int().nullable(),
  entry_key: z.string(),
  started_at: z.date(),
  test_recipient: z.string().nullable(),
  is_test: z.boolean(),
  may_call: z.boolean(),
  traceparent: z.string().nullable(),
  source: z.enum(['server', 'browser', 'system']).nullable(),
  is_bulk: z.boolean(),
  goes_first: z.boolean(),
  /** When a backup was restored, of a run that was due before sending went on. */
  restored_at: z.date().nullable(),
  entries: z.int(),
  automation_status: z.enum([...AUTOMATION_STATUSES, DELETING]),
  /** The version to which a command moves it; null where none does. */
  moves_to: z.int().nullable(),
  /** Whether it ended as merged once, and an undo restored it. */
  was_merged: z.boolean(),
});
/** A run that is due, but for what its version says. */
export type DueRun = z.output<typeof DueRun>;
/** A due run with what its version says. */
export type WalkedRun = DueRun & { definition: Definition };

/** Whether its automation is archived, or deleted: then the run ends, and a piece of the delete takes it. */
export const isOver = ({ automation_status: status }: DueRun): boolean =>
  status === 'archived' || status === DELETING;

const Due = z.strictObject({
  run_id: z.uuid(),
  identity_id: z.uuid(),
  is_capped: z.boolean(),
  is_of_page: z.boolean(),
});
export type Due = z.output<typeof Due>;

/** So many runs of one kind go for each run of the kind behind it. */
const PER_OTHER = 3;

/** Whether an event of a page caused a run: an expression of the index `runs_by_turn_and_cause`. */
export const isRunOfPage = sql.fragment`(coalesce(source = 'browser', false))`;

/** Whether other email to the person counts for a run: the version has a frequency cap. */
const isCapped = sql.fragment`coalesce(version.definition #> '{settings,frequency_cap}' <> 'null', false)`;

/**
 * Returns runs that are due, each with its identity: people are locked before their runs. What an event has just
 * started or woken goes first. Every fourth is one of the others, which are due by time or of a bulk start. Of both,
 * every fourth is one that a page caused. Each kind comes in the order of time, and fills up what the others leave.
 * Returns none while sending is held.
 */
export const listDueRuns = ({ tx, projectId }: Scope, runsMax: number) => {
  const listKind = (goesFirst: boolean, isOfPage: boolean) => sql.fragment`(
    select run_id, identity_id, automation_id, version, wake_at, goes_first, ${isRunOfPage} as is_of_page
    from automations.runs
    where project_id = ${projectId} and status = 'active' and goes_first = ${goesFirst}
    and ${isRunOfPage} = ${isOfPage} and wake_at <= statement_timestamp()
    order by wake_at
    limit ${runsMax}
  )`;
  return tx.any(sql.type(Due)`
    select due.run_id, due.identity_id, ${isCapped} as is_capped, due.is_of_page
    from (
      select waiting.*, row_number() over (partition by goes_first, is_of_page order by wake_at)
        * case when goes_first then 1 else ${PER_OTHER} end
        * case when is_of_page then ${PER_OTHER} else 1 end as turn
      from (
        ${listKind(true, false)}
        union all ${listKind(true, true)}
        union all ${listKind(false, false)}
        union all ${listKind(false, true)}
      ) as waiting
      where not base.is_sending_held()
      order by turn, goes_first desc, is_of_page
      limit ${runsMax}
    ) as due
    join automations.versions as version
      on version.project_id = ${projectId} and version.automation_id = due.automation_id
      and version.version = due.version
    order by due.turn, due.goes_first desc, due.is_of_page
  `);
};

/** Returns those of some runs that are due, in the order of time, like `listDueRuns`. */
export const listDueOf = ({ tx, projectId }: Scope, runIds: readonly string[]) =>
  tx.any(sql.type(Due)`
    select run.run_id, run.identity_id, ${isCapped} as is_capped, ${isRunOfPage} as is_of_page
    from automations.runs as run
    join automations.versions as version
      on version.project_id = ${projectId} and version.automation_id = run.automation_id
      and version.version = run.version
    where run.project_id = ${projectId} and run.run_id = any (${sql.array([...runIds], 'uuid')})
    and run.status = 'active' and run.wake_at <= statement_timestamp() and not base.is_sending_held()
    order by run.wake_at, run.run_id
  `);

/** A run to claim, and the profile of its person; null where the person is gone. */
type ClaimedRun = { run_id: string; profile_id: string | null };

/**
 * Takes those of some runs that are still due and that no other worker walks, until the transaction ends. Locked
 * no more than it takes: what refers to a run may still be written. Runs of a person wait while a link or an undo has
 * them compared.
 */
export const claimDueRuns = ({ tx, projectId }: Scope, due: readonly ClaimedRun[]) => {
  const column = (read: (one: ClaimedRun) => string | null) => sql.array(due.map(read), 'uuid');
  return tx.any(sql.type(DueRun)`
    select run.run_id, run.automation_id, run.version, run.identity_id, run.step_id, run.waits_until as until,
      run.wake_at, run.trigger_event_id, run.trigger_event_at, run.trigger_entry, run.entry_key,
      run.started_at, run.test_recipient, run.is_test, run.may_call, run.traceparent, run.source, run.is_bulk,
      run.goes_first,
      base.restored_before(run.wake_at) as restored_at,
      automation.status as automation_status,
      (
        select moving.to_version from automations.commands as moving
        where moving.project_id = ${projectId} and moving.automation_id = run.automation_id
        and moving.kind = 'move' and run.started_at <= moving.requested_at and not run.is_test
      ) as moves_to,
      exists (
        select from automations.run_merges as merge
        where merge.project_id = ${projectId} and merge.run_id = run.run_id
      ) as was_merged,
      (
        select count(*) from automations.run_log as entry
        where entry.project_id = ${projectId} and entry.run_id = run.run_id
      ) as entries
    from automations.runs as run
    join automations.automations as automation
      on automation.project_id = run.project_id and automation.automation_id = run.automation_id
    where run.project_id = ${projectId} and automation.project_id = ${projectId}
    and run.run_id = any (${column(({ run_id }) => run_id)})
    and run.status = 'active' and run.wake_at <= statement_timestamp()
    and (run.is_test or run.run_id <> all (array(
      select known.run_id
      from automations.pending_merges as pending
      join unnest(
        ${column(({ run_id }) => run_id)}, ${column(({ profile_id }) => profile_id)}
      ) as known (run_id, profile_id) on known.profile_id = pending.profile_id
      where pending.project_id = ${projectId}
    )))
    order by run.wake_at, run.run_id
    for no key update of run skip locked
  `);
};
