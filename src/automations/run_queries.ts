import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { nowInMs } from '../base/now_in_ms.ts';
import { AUTOMATION_STATUSES, DELETING } from './queries.ts';

export type NewRun = {
  run_id: string;
  automation_id: string;
  version: number;
  identity_id: string;
  /** Null of a run that no event starts. */
  trigger_event_id: string | null;
  trigger_event_at: string | null;
  trigger_entry: number | null;
  entry_key: string;
  step_id: string;
  test_recipient: string | null;
  may_call: boolean;
  /** The trace of the event that starts it, where that has one. */
  traceparent: string | null;
  /** Who caused it. */
  source: 'server' | 'browser' | 'system' | null;
  /** Whether the start of a whole segment began it. */
  is_bulk: boolean;
};

const RunId = z.strictObject({ run_id: z.uuid() });

/** Starts the runs whose entry is new, due at once. An entry has one run; those of a bulk start go after others. */
export const insertRuns = async (
  { tx, projectId }: Scope,
  runs: readonly NewRun[],
): Promise<Set<string>> => {
  const column = (read: (run: NewRun) => string | number | boolean | null, type: string) =>
    sql.array(runs.map(read), type);
  const rows = await tx.any(sql.type(RunId)`
    insert into automations.runs (project_id, run_id, automation_id, version, identity_id, trigger_event_id,
      trigger_event_at, trigger_entry, entry_key, status, step_id, wake_at, started_at, test_recipient, is_test,
      may_call, traceparent, source, is_bulk, goes_first)
    select ${projectId}, run.run_id, run.automation_id, run.version, run.identity_id, run.event_id, run.event_at,
      run.entry, run.entry_key, 'active', run.step_id, ${nowInMs},
      statement_timestamp(),
      run.test_recipient, run.test_recipient is not null, run.may_call, run.traceparent, run.source, run.is_bulk,
      not run.is_bulk
    from unnest(
      ${column((run) => run.run_id, 'uuid')}, ${column((run) => run.automation_id, 'uuid')},
      ${column((run) => run.version, 'int4')}, ${column((run) => run.identity_id, 'uuid')},
      ${column((run) => run.trigger_event_id, 'uuid')}, ${column((run) => run.trigger_event_at, 'timestamptz')},
      ${column((run) => run.trigger_entry, 'int8')}, ${column((run) => run.entry_key, 'text')},
      ${column((run) => run.step_id, 'text')}, ${column((run) => run.test_recipient, 'text')},
      ${column((run) => run.may_call, 'bool')}, ${column((run) => run.traceparent, 'text')},
      ${column((run) => run.source, 'text')}, ${column((run) => run.is_bulk, 'bool')}
    ) as run (run_id, automation_id, version, identity_id, event_id, event_at, entry, entry_key, step_id,
      test_recipient, may_call, traceparent, source, is_bulk)
    order by run.automation_id, run.entry_key, run.event_at, run.event_id
    on conflict on constraint runs_one_per_entry do nothing
    returning run_id
  `);
  return new Set(rows.map(({ run_id }) => run_id));
};

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
 * Takes those of some runs that are still due and that nobody else is walking, until the transaction ends. Locked
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

const Now = z.strictObject({ now: z.date() });

/** What the time is, by the one clock that counts. */
export const readClock = async ({ tx }: Pick<Scope, 'tx'>): Promise<Date> =>
  (
    await tx.one(sql.type(Now)`
      select ${nowInMs} as now
    `)
  ).now;

export type LogEntry = {
  runId: string;
  entry: number;
  stepId: string;
  decision: string;
  detail: Record<string, string>;
};

export const insertLog = async (
  { tx, projectId }: Scope,
  entries: readonly LogEntry[],
): Promise<void> => {
  const column = (read: (entry: LogEntry) => string | number, type: string) =>
    sql.array(entries.map(read), type);
  if (entries.length === 0) return;
  await tx.query(sql.unsafe`
    insert into automations.run_log (project_id, run_id, entry, step_id, decision, detail, decided_at)
    select ${projectId}, logged.run_id, logged.entry, logged.step_id, logged.decision, logged.detail,
      statement_timestamp()
    from unnest(
      ${column(({ runId }) => runId, 'uuid')}, ${column(({ entry }) => entry, 'int4')},
      ${column(({ stepId }) => stepId, 'text')}, ${column(({ decision }) => decision, 'text')},
      ${column(({ detail }) => JSON.stringify(detail), 'jsonb')}
    ) as logged (run_id, entry, step_id, decision, detail)
  `);
};
