import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { jsonObject } from '../base/json_object.ts';
import { Definition } from './schema.ts';

export const insertAutomation = async (
  { tx, projectId }: Scope,
  automationId: string,
  name: string,
) => {
  await tx.query(sql.unsafe`
    insert into automations.automations (project_id, automation_id, name, status, created_at, updated_at)
    values (${projectId}, ${automationId}, ${name}, 'draft', now(), now())
  `);
};

export const insertVersion = (
  { tx, projectId }: Scope,
  automationId: string,
  version: number,
  definition: Definition,
) =>
  tx.query(sql.unsafe`
    insert into automations.versions (project_id, automation_id, version, definition, created_at)
    values (${projectId}, ${automationId}, ${version}, ${JSON.stringify(definition)}::jsonb, now())
  `);

export const activateVersion = async (
  { tx, projectId }: Scope,
  automationId: string,
  version: number,
  event: string,
) => {
  await tx.query(sql.unsafe`
    update automations.automations set status = 'active', active_version = ${version}, updated_at = now()
    where project_id = ${projectId} and automation_id = ${automationId}
  `);
  await tx.query(sql.unsafe`
    delete from automations.triggers where project_id = ${projectId} and automation_id = ${automationId}
  `);
  await tx.query(sql.unsafe`
    insert into automations.triggers (project_id, event_name, automation_id, version)
    values (${projectId}, ${event}, ${automationId}, ${version})
  `);
};

const Automation = z.strictObject({
  automation_id: z.uuid(),
  name: z.string(),
  active_version: z.int().nullable(),
});

export const findAutomationByName = ({ tx, projectId }: Scope, name: string) =>
  tx.maybeOne(sql.type(Automation)`
    select automation_id, name, active_version from automations.automations
    where project_id = ${projectId} and name = ${name}
    order by created_at
    limit 1
  `);

const Listed = Automation.extend({
  status: z.enum(['draft', 'active', 'paused', 'archived']),
  event: z.string().nullable(),
  created_at: z.date(),
});

/** The automations of a project, the newest first, and the event that starts each that is active. */
export const listAutomations = (
  { tx, projectId }: Scope,
  { limit, beforeId }: { limit: number; beforeId: string | null },
) => {
  const earlier = beforeId
    ? sql.fragment`and automation.automation_id < ${beforeId}`
    : sql.fragment``;
  return tx.any(sql.type(Listed)`
    select automation.automation_id, automation.name, automation.status, automation.active_version,
      automation.created_at, version.definition -> 'trigger' ->> 'event' as event
    from automations.automations as automation
    left join automations.versions as version
      on version.project_id = automation.project_id
      and version.project_id = ${projectId}
      and version.automation_id = automation.automation_id
      and version.version = automation.active_version
    where automation.project_id = ${projectId} ${earlier}
    order by automation.automation_id desc
    limit ${limit}
  `);
};

const Properties = jsonObject<string | number | boolean>();

const Triggered = z.strictObject({
  automation_id: z.uuid(),
  version: z.int(),
  definition: Definition,
  event_id: z.uuid(),
  occurred_at: z.date(),
  external_id: z.string().nullable(),
  anonymous_id: z.string().nullable(),
  properties: Properties,
  key_kind: z.string().nullable(),
});
export type Triggered = z.output<typeof Triggered>;

/** The events of some flushes that an active automation waits for, oldest first. Most events match none. */
export const listTriggered = ({ tx, projectId }: Scope, flushIds: string[]) =>
  tx.any(sql.type(Triggered)`
    select trigger.automation_id, trigger.version, version.definition, event.event_id, event.occurred_at,
      event.external_id, event.anonymous_id, event.properties, event.key_kind
    from ingest.pending_events(project_id => ${projectId}, flush_ids => ${sql.array(flushIds, 'uuid')}) as event
    join automations.triggers as trigger
      on trigger.project_id = event.project_id and trigger.event_name = event.name
    join automations.versions as version
      on version.project_id = trigger.project_id
      and version.automation_id = trigger.automation_id
      and version.version = trigger.version
    where trigger.project_id = ${projectId} and version.project_id = ${projectId}
    order by event.occurred_at, event.event_id
  `);

export type NewRun = {
  run_id: string;
  automation_id: string;
  version: number;
  identity_id: string;
  trigger_event_id: string;
  trigger_event_at: string;
  entry_key: string;
  step_id: string;
};

const RunId = z.strictObject({ run_id: z.uuid() });

/** Starts the runs whose entry is new, due at once; a second run for an entry is nobody's. */
export const insertRuns = async ({ tx, projectId }: Scope, runs: NewRun[]): Promise<string[]> => {
  const column = (read: (run: NewRun) => string | number, type: string) =>
    sql.array(runs.map(read), type);
  const rows = await tx.any(sql.type(RunId)`
    insert into automations.runs (project_id, run_id, automation_id, version, identity_id, trigger_event_id,
      trigger_event_at, entry_key, status, step_id, wake_at, started_at)
    select ${projectId}, run.run_id, run.automation_id, run.version, run.identity_id, run.event_id, run.event_at,
      run.entry_key, 'active', run.step_id, date_trunc('milliseconds', statement_timestamp()), statement_timestamp()
    from unnest(
      ${column((run) => run.run_id, 'uuid')}, ${column((run) => run.automation_id, 'uuid')},
      ${column((run) => run.version, 'int4')}, ${column((run) => run.identity_id, 'uuid')},
      ${column((run) => run.trigger_event_id, 'uuid')}, ${column((run) => run.trigger_event_at, 'timestamptz')},
      ${column((run) => run.entry_key, 'text')}, ${column((run) => run.step_id, 'text')}
    ) as run (run_id, automation_id, version, identity_id, event_id, event_at, entry_key, step_id)
    order by run.automation_id, run.entry_key, run.event_at, run.event_id
    on conflict on constraint runs_one_per_entry do nothing
    returning run_id
  `);
  return rows.map(({ run_id }) => run_id);
};

const DueRun = z.strictObject({
  run_id: z.uuid(),
  automation_id: z.uuid(),
  identity_id: z.uuid(),
  step_id: z.string(),
  trigger_event_id: z.uuid(),
  trigger_event_at: z.date(),
  entries: z.int(),
  definition: Definition,
});
export type DueRun = z.output<typeof DueRun>;

/** Takes runs that are due and that nobody else is walking, until the transaction ends. */
export const claimDueRuns = ({ tx, projectId }: Scope, runsMax: number) =>
  tx.any(sql.type(DueRun)`
    select run.run_id, run.automation_id, run.identity_id, run.step_id, run.trigger_event_id, run.trigger_event_at,
      version.definition,
      (
        select count(*) from automations.run_log as entry
        where entry.project_id = ${projectId} and entry.run_id = run.run_id
      ) as entries
    from automations.runs as run
    join automations.versions as version
      on version.project_id = run.project_id
      and version.automation_id = run.automation_id
      and version.version = run.version
    where run.project_id = ${projectId} and version.project_id = ${projectId}
    and run.status = 'active' and run.wake_at <= statement_timestamp()
    order by run.wake_at
    limit ${runsMax}
    for update of run skip locked
  `);

export type LogEntry = {
  runId: string;
  entry: number;
  stepId: string;
  decision: string;
  detail: Record<string, string>;
};

export const insertLog = ({ tx, projectId }: Scope, entries: LogEntry[]) => {
  const column = (read: (entry: LogEntry) => string | number, type: string) =>
    sql.array(entries.map(read), type);
  return tx.query(sql.unsafe`
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

export const endRuns = ({ tx, projectId }: Scope, runIds: string[]) =>
  tx.query(sql.unsafe`
    update automations.runs
    set status = 'ended', step_id = null, wake_at = null, ended_at = now()
    where project_id = ${projectId} and run_id = any (${sql.array(runIds, 'uuid')})
  `);

/**
 * Puts a run off that could not be walked, for a second and twice as long each time; the last time it
 * is given up, with a line in its log. How often is also the bound of how long.
 */
export const postponeRun = async (
  { tx, projectId }: Scope,
  { run_id: runId, entries, step_id: stepId }: DueRun,
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
};
