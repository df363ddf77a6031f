import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { nowInMs } from '../base/now_in_ms.ts';

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
  /** Which start that is. */
  start_id: string | null;
  /** When it begins, of a run that a schedule starts by the clock of its person; null of any other. */
  begins_at: string | null;
};

const RunId = z.strictObject({ run_id: z.uuid() });

/**
 * Starts the runs whose entry is new, due at once or when they begin. An entry has one run; those of a bulk start go
 * after others.
 */
export const insertRuns = async (
  { tx, projectId }: Scope,
  runs: readonly NewRun[],
): Promise<Set<string>> => {
  const column = (read: (run: NewRun) => string | number | boolean | null, type: string) =>
    sql.array(runs.map(read), type);
  const rows = await tx.any(sql.type(RunId)`
    insert into automations.runs (project_id, run_id, automation_id, version, identity_id, trigger_event_id,
      trigger_event_at, trigger_entry, entry_key, status, step_id, wake_at, started_at, test_recipient, is_test,
      may_call, traceparent, source, is_bulk, start_id, begins_at, goes_first)
    select ${projectId}, run.run_id, run.automation_id, run.version, run.identity_id, run.event_id, run.event_at,
      run.entry, run.entry_key, 'active', run.step_id, greatest(${nowInMs}, run.begins_at),
      statement_timestamp(),
      run.test_recipient, run.test_recipient is not null, run.may_call, run.traceparent, run.source, run.is_bulk,
      run.start_id, run.begins_at, not run.is_bulk
    from unnest(
      ${column((run) => run.run_id, 'uuid')}, ${column((run) => run.automation_id, 'uuid')},
      ${column((run) => run.version, 'int4')}, ${column((run) => run.identity_id, 'uuid')},
      ${column((run) => run.trigger_event_id, 'uuid')}, ${column((run) => run.trigger_event_at, 'timestamptz')},
      ${column((run) => run.trigger_entry, 'int8')}, ${column((run) => run.entry_key, 'text')},
      ${column((run) => run.step_id, 'text')}, ${column((run) => run.test_recipient, 'text')},
      ${column((run) => run.may_call, 'bool')}, ${column((run) => run.traceparent, 'text')},
      ${column((run) => run.source, 'text')}, ${column((run) => run.is_bulk, 'bool')},
      ${column((run) => run.start_id, 'uuid')}, ${column((run) => run.begins_at, 'timestamptz')}
    ) as run (run_id, automation_id, version, identity_id, event_id, event_at, entry, entry_key, step_id,
      test_recipient, may_call, traceparent, source, is_bulk, start_id, begins_at)
    order by run.automation_id, run.entry_key, run.event_at, run.event_id
    on conflict on constraint runs_one_per_entry do nothing
    returning run_id
  `);
  return new Set(rows.map(({ run_id }) => run_id));
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
