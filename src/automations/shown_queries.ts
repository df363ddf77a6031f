import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { RUN_STATUSES } from './erase_queries.ts';

const Shown = z.strictObject({
  run_id: z.uuid(),
  automation_id: z.uuid(),
  version: z.int(),
  identity_id: z.uuid(),
  trigger_event_id: z.uuid().nullable(),
  trigger_entry: z.int().nullable(),
  /** The start of a whole segment that began it, and when it begins by the clock of its person. */
  start_id: z.uuid().nullable(),
  begins_at: z.date().nullable(),
  status: z.enum(RUN_STATUSES),
  outcome: z.string().nullable(),
  is_test: z.boolean(),
  step_id: z.string().nullable(),
  wake_at: z.date().nullable(),
  started_at: z.date(),
  ended_at: z.date().nullable(),
});
export type ShownRun = z.output<typeof Shown>;

const columns = sql.fragment`run_id, automation_id, version, identity_id, trigger_event_id, trigger_entry, start_id,
  begins_at, status, outcome, is_test, step_id, wake_at, started_at, ended_at`;

export const findRunById = ({ tx, projectId }: Scope, runId: string) =>
  tx.maybeOne(sql.type(Shown)`
    select ${columns} from automations.runs where project_id = ${projectId} and run_id = ${runId}
  `);

type Page = { limit: number; beforeId: string | null; isFailed?: boolean };

/** The runs of an automation, the newest first; all of them, or those that failed. */
export const listRunsIn = (
  { tx, projectId }: Scope,
  automationId: string,
  { limit, beforeId, isFailed = false }: Page,
) => {
  const failed = isFailed ? sql.fragment`and status = 'failed'` : sql.fragment``;
  const earlier = beforeId === null ? sql.fragment`` : sql.fragment`and run_id < ${beforeId}::uuid`;
  return tx.any(sql.type(Shown)`
    select ${columns} from automations.runs
    where project_id = ${projectId} and automation_id = ${automationId} ${failed} ${earlier}
    order by run_id desc
    limit ${limit}
  `);
};

/** The runs of a person, under any of their identities, the newest first; with tests, unless it is said otherwise. */
export const listRunsFor = (
  { tx, projectId }: Scope,
  identityIds: readonly string[],
  {
    limit,
    beforeId,
    automationId,
    isFailed = false,
    isTest = null,
  }: Page & { automationId: string | null; isTest?: boolean | null },
) => {
  const earlier = beforeId === null ? sql.fragment`` : sql.fragment`and run_id < ${beforeId}::uuid`;
  const of =
    automationId === null
      ? sql.fragment``
      : sql.fragment`and automation_id = ${automationId}::uuid`;
  const failed = isFailed ? sql.fragment`and status = 'failed'` : sql.fragment``;
  return tx.any(sql.type(Shown)`
    select ${columns} from automations.runs
    where project_id = ${projectId} and identity_id = any (${sql.array([...identityIds], 'uuid')})
    and (${isTest}::boolean is null or is_test = ${isTest}::boolean) ${failed} ${of} ${earlier}
    order by run_id desc
    limit ${limit}
  `);
};
