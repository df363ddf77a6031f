import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { KeptDefinition } from './schema.ts';
import type { Outcome } from './world.ts';

export type NewRun = {
  run_id: string;
  automation_id: string;
  version: number;
  identity_id: string;
  /** Null of a run that somebody starts by hand. */
  trigger_event_id: string | null;
  trigger_event_at: string | null;
  entry_key: string;
  step_id: string;
  test_recipient: string | null;
};

const RunId = z.strictObject({ run_id: z.uuid() });

/** Starts the runs whose entry is new, due at once; a second run for an entry is nobody's. */
export const insertRuns = async (
  { tx, projectId }: Scope,
  runs: readonly NewRun[],
): Promise<Set<string>> => {
  const column = (read: (run: NewRun) => string | number | null, type: string) =>
    sql.array(runs.map(read), type);
  const rows = await tx.any(sql.type(RunId)`
    insert into automations.runs (project_id, run_id, automation_id, version, identity_id, trigger_event_id,
      trigger_event_at, entry_key, status, step_id, wake_at, started_at, test_recipient, is_test)
    select ${projectId}, run.run_id, run.automation_id, run.version, run.identity_id, run.event_id, run.event_at,
      run.entry_key, 'active', run.step_id, date_trunc('milliseconds', statement_timestamp()), statement_timestamp(),
      run.test_recipient, run.test_recipient is not null
    from unnest(
      ${column((run) => run.run_id, 'uuid')}, ${column((run) => run.automation_id, 'uuid')},
      ${column((run) => run.version, 'int4')}, ${column((run) => run.identity_id, 'uuid')},
      ${column((run) => run.trigger_event_id, 'uuid')}, ${column((run) => run.trigger_event_at, 'timestamptz')},
      ${column((run) => run.entry_key, 'text')}, ${column((run) => run.step_id, 'text')},
      ${column((run) => run.test_recipient, 'text')}
    ) as run (run_id, automation_id, version, identity_id, event_id, event_at, entry_key, step_id, test_recipient)
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
  started_at: z.date(),
  test_recipient: z.string().nullable(),
  is_test: z.boolean(),
  entries: z.int(),
  definition: KeptDefinition,
  automation_status: z.enum(['draft', 'active', 'paused', 'archived']),
});
export type DueRun = z.output<typeof DueRun>;

const Due = z.strictObject({ run_id: z.uuid(), identity_id: z.uuid() });

/** Runs that are due, the longest first, and for whom: people are locked before their runs. */
export const listDueRuns = ({ tx, projectId }: Scope, runsMax: number) =>
  tx.any(sql.type(Due)`
    select run_id, identity_id from automations.runs
    where project_id = ${projectId} and status = 'active' and wake_at <= statement_timestamp()
    order by wake_at
    limit ${runsMax}
  `);

/**
 * Takes those of some runs that are still due and that nobody else is walking, until the transaction ends. Locked
 * no more than it takes: what refers to a run may still be written.
 */
export const claimDueRuns = ({ tx, projectId }: Scope, runIds: readonly string[]) =>
  tx.any(sql.type(DueRun)`
    select run.run_id, run.automation_id, run.version, run.identity_id, run.step_id, run.waits_until as until,
      run.wake_at, run.trigger_event_id, run.trigger_event_at, run.started_at, run.test_recipient, run.is_test,
      version.definition, automation.status as automation_status,
      (
        select count(*) from automations.run_log as entry
        where entry.project_id = ${projectId} and entry.run_id = run.run_id
      ) as entries
    from automations.runs as run
    join automations.versions as version
      on version.project_id = run.project_id
      and version.automation_id = run.automation_id
      and version.version = run.version
    join automations.automations as automation
      on automation.project_id = run.project_id and automation.automation_id = run.automation_id
    where run.project_id = ${projectId} and version.project_id = ${projectId}
    and automation.project_id = ${projectId}
    and run.run_id = any (${sql.array([...runIds], 'uuid')})
    and run.status = 'active' and run.wake_at <= statement_timestamp()
    order by run.wake_at
    for no key update of run skip locked
  `);

const Now = z.strictObject({ now: z.date() });

/** What the time is, by the one clock that counts. */
export const readClock = async ({ tx }: Pick<Scope, 'tx'>): Promise<Date> =>
  (
    await tx.one(sql.type(Now)`
      select date_trunc('milliseconds', statement_timestamp()) as now
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

export type Ended = { runId: string; outcome: Outcome };

/** Ends runs, each with why; what a test was sent to is forgotten. */
export const endRuns = async ({ tx, projectId }: Scope, ended: readonly Ended[]): Promise<void> => {
  if (ended.length === 0) return;
  await tx.query(sql.unsafe`
    update automations.runs as run
    set status = 'ended', outcome = ended.outcome, step_id = null, wake_at = null, waits_until = null,
      test_recipient = null, ended_at = statement_timestamp()
    from unnest(
      ${sql.array(
        ended.map(({ runId }) => runId),
        'uuid',
      )},
      ${sql.array(
        ended.map(({ outcome }) => outcome),
        'text',
      )}
    ) as ended (run_id, outcome)
    where run.project_id = ${projectId} and run.run_id = ended.run_id
  `);
  await tx.query(sql.unsafe`
    delete from automations.waits
    where project_id = ${projectId} and run_id = any (${sql.array(
      ended.map(({ runId }) => runId),
      'uuid',
    )})
  `);
};

export type Waiting = { runId: string; stepId: string; until: Date; wakeAt: Date };

/** Leaves runs at the step at which they wait, until when. */
export const keepWaiting = async (
  { tx, projectId }: Scope,
  waiting: readonly Waiting[],
): Promise<void> => {
  if (waiting.length === 0) return;
  const column = (read: (one: Waiting) => string, type: string) =>
    sql.array(waiting.map(read), type);
  await tx.query(sql.unsafe`
    update automations.runs as run
    set step_id = waiting.step_id, waits_until = waiting.until, wake_at = waiting.wake_at, failure_count = 0
    from unnest(
      ${column(({ runId }) => runId, 'uuid')}, ${column(({ stepId }) => stepId, 'text')},
      ${column(({ until }) => until.toISOString(), 'timestamptz')},
      ${column(({ wakeAt }) => wakeAt.toISOString(), 'timestamptz')}
    ) as waiting (run_id, step_id, until, wake_at)
    where run.project_id = ${projectId} and run.run_id = waiting.run_id
  `);
};

/** Freezes runs of an automation that is paused where they are. */
export const freezeRuns = async (
  { tx, projectId }: Scope,
  runIds: readonly string[],
): Promise<void> => {
  if (runIds.length === 0) return;
  await tx.query(sql.unsafe`
    update automations.runs set status = 'paused'
    where project_id = ${projectId} and run_id = any (${sql.array([...runIds], 'uuid')})
  `);
};

type Postponed = { run_id: string; entries: number; step_id: string };

/**
 * Puts a run off that could not be walked, for a second and twice as long each time; the last time it
 * is given up, with a line in its log. How often is also the bound of how long.
 */
export const postponeRun = async (
  { tx, projectId }: Scope,
  { run_id: runId, entries, step_id: stepId }: Postponed,
  failuresMax: number,
): Promise<void> => {
  await tx.query(sql.unsafe`
    update automations.runs as run
    set failure_count = run.failure_count + 1,
      status = case when run.failure_count + 1 >= ${failuresMax} then 'failed' else run.status end,
      ended_at = case when run.failure_count + 1 >= ${failuresMax} then clock.now end,
      wake_at = clock.now + make_interval(secs => 2 ^ run.failure_count)
    from (select statement_timestamp() as now) as clock
    where run.project_id = ${projectId} and run.run_id = ${runId}
  `);
  await tx.query(sql.unsafe`
    insert into automations.run_log (project_id, run_id, entry, step_id, decision, decided_at)
    select ${projectId}, run.run_id, ${entries}, ${stepId}, 'run_failed', statement_timestamp()
    from automations.runs as run
    where run.project_id = ${projectId} and run.run_id = ${runId} and run.status = 'failed'
  `);
  await tx.query(sql.unsafe`
    delete from automations.waits
    where project_id = ${projectId} and run_id in (
      select run.run_id from automations.runs as run
      where run.project_id = ${projectId} and run.run_id = ${runId} and run.status = 'failed'
    )
  `);
};
