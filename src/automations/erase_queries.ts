import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { FIRST_ID } from '../base/ids.ts';

/** `paused`: frozen where it is, because its automation is paused. */
export const RUN_STATUSES = ['active', 'paused', 'ended', 'failed'] as const;

const Run = z.strictObject({
  run_id: z.uuid(),
  automation_id: z.uuid(),
  version: z.int(),
  trigger_event_id: z.uuid().nullable(),
  trigger_event_at: z.date().nullable(),
  trigger_entry: z.int().nullable(),
  status: z.enum(RUN_STATUSES),
  outcome: z.string().nullable(),
  is_test: z.boolean(),
  step_id: z.string().nullable(),
  started_at: z.date(),
  ended_at: z.date().nullable(),
});
export type Run = z.output<typeof Run>;

/** The runs of an identity, page by page, in the order of their ids. */
export const listRunsOf = (
  { tx, projectId }: Scope,
  identityId: string,
  { after, limit }: { after: string | null; limit: number },
) => {
  const later = after === null ? sql.fragment`` : sql.fragment`and run_id > ${after}`;
  return tx.any(sql.type(Run)`
    select run_id, automation_id, version, trigger_event_id, trigger_event_at, trigger_entry, status, outcome,
      is_test, step_id, started_at, ended_at
    from automations.runs
    where project_id = ${projectId} and identity_id = ${identityId} ${later}
    order by run_id
    limit ${limit}
  `);
};

const RunId = z.strictObject({ identity_id: z.uuid(), run_id: z.uuid() });
export type RunId = z.output<typeof RunId>;

/**
 * The runs of identities, page by page, in the order of the identities and of their own ids. Each identity
 * is looked up by the index, and no further than the page goes.
 */
export const listRunIds = (
  { tx, projectId }: Scope,
  identityIds: readonly string[],
  { last, limit }: { last: RunId | null; limit: number },
) =>
  tx.any(sql.type(RunId)`
    select known.identity_id, run.run_id
    from unnest(${sql.array(identityIds.slice(last ? identityIds.indexOf(last.identity_id) : 0), 'uuid')})
      with ordinality as known (identity_id, ordinal)
    cross join lateral (
      select run_id from automations.runs
      where project_id = ${projectId} and identity_id = known.identity_id
      and run_id > case when known.ordinal = 1 then ${last?.run_id ?? FIRST_ID}::uuid else ${FIRST_ID}::uuid end
      order by run_id
      limit ${limit}
    ) as run
    limit ${limit}
  `);

/** Ends the runs among these that may go on, those that failed too; answers how many. */
export const cancelRuns = async ({ tx, projectId }: Scope, runIds: string[]): Promise<number> => {
  const { rowCount } = await tx.query(sql.unsafe`
    update automations.runs
    set status = 'ended', outcome = 'erased', step_id = null, wake_at = null, waits_until = null,
      test_recipient = null, ended_at = now()
    where project_id = ${projectId} and run_id = any (${sql.array(runIds, 'uuid')})
    and status in ('active', 'paused', 'failed')
  `);
  return rowCount;
};

/** Forgets by which events identities were not taken. */
export const deleteRefusals = ({ tx, projectId }: Scope, identityIds: string[]) =>
  tx.query(sql.unsafe`
    delete from automations.refusals
    where project_id = ${projectId} and identity_id = any (${sql.array(identityIds, 'uuid')})
  `);

/**
 * Deletes by which runs identities were enrolled that retention removed, at most `rowsMax` rows. Returns how many. Each
 * has the digest of a value of the person.
 */
export const deleteEnrollments = async (
  { tx, projectId }: Scope,
  identityIds: readonly string[],
  rowsMax: number,
): Promise<number> => {
  const { rowCount } = await tx.query(sql.unsafe`
    delete from automations.enrollments as enrolled
    using (
      select automation_id, identity_id, digest from automations.enrollments
      where project_id = ${projectId} and identity_id = any (${sql.array([...identityIds], 'uuid')})
      limit ${rowsMax}
    ) as page
    where enrolled.project_id = ${projectId} and enrolled.automation_id = page.automation_id
    and enrolled.identity_id = page.identity_id and enrolled.digest = page.digest
  `);
  return rowCount;
};

/**
 * Replaces the keys of some runs that have a digest of a value of the person. Returns how many. The run keeps a key of
 * its own, which no event can have.
 */
export const replaceKeys = async (
  { tx, projectId }: Scope,
  runIds: readonly string[],
): Promise<number> => {
  const { rowCount } = await tx.query(sql.unsafe`
    update automations.runs set entry_key = 'erased/' || run_id::text
    where project_id = ${projectId} and run_id = any (${sql.array([...runIds], 'uuid')})
    and entry_key like 'property/%'
  `);
  return rowCount;
};

/** Deletes where runs were that ended as merged, so that no undo restores them. */
export const deleteMerges = ({ tx, projectId }: Scope, runIds: string[]) =>
  tx.query(sql.unsafe`
    delete from automations.run_merges
    where project_id = ${projectId} and run_id = any (${sql.array(runIds, 'uuid')})
  `);

export const deleteLogs = async ({ tx, projectId }: Scope, runIds: string[]): Promise<number> => {
  const { rowCount } = await tx.query(sql.unsafe`
    delete from automations.run_log
    where project_id = ${projectId} and run_id = any (${sql.array(runIds, 'uuid')})
  `);
  return rowCount;
};

const Logged = z.strictObject({
  run_id: z.uuid(),
  step_id: z.string(),
  decision: z.string(),
  detail: z.record(z.string(), z.json()),
  decided_at: z.date(),
});
export type Logged = z.output<typeof Logged>;

/** What was decided in some runs, in the order in which it was. */
export const listLogs = ({ tx, projectId }: Scope, runIds: string[]) =>
  tx.any(sql.type(Logged)`
    select run_id, step_id, decision, detail, decided_at from automations.run_log
    where project_id = ${projectId} and run_id = any (${sql.array(runIds, 'uuid')})
    order by run_id, entry
  `);
