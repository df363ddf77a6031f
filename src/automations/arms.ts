import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import * as profiles from '../profiles/profiles.ts';
import { lockUndeleted } from './queries.ts';

const Passed = z.strictObject({
  run_id: z.uuid(),
  automation_id: z.uuid(),
  identity_id: z.uuid(),
  started_at: z.date(),
  step_id: z.string(),
  profile_id: z.uuid().nullable(),
});
/** A split that a run passed, and the profile by which its arm was chosen, where its log says it. */
export type Passed = z.output<typeof Passed>;

const listPassed = ({ tx, projectId }: Scope, runIds: readonly string[]) =>
  tx.any(sql.type(Passed)`
    select run.run_id, run.automation_id, run.identity_id, run.started_at, log.step_id,
      (log.detail ->> 'profile_id')::uuid as profile_id
    from automations.run_log as log
    join automations.runs as run on run.run_id = log.run_id
    where log.project_id = ${projectId} and run.project_id = ${projectId} and not run.is_test
    and log.run_id = any (${sql.array([...runIds], 'uuid')}) and log.decision in ('split', 'held_out')
  `);

/**
 * Returns the splits that some runs passed, of people who live and automations that are not deleted. Holds both: what
 * is kept of a split goes with them. In the order of all locks.
 */
export const holdPassed = async (
  scope: Scope,
  runIds: readonly string[],
): Promise<readonly Passed[]> => {
  const passed = await listPassed(scope, runIds);
  if (passed.length === 0) return [];
  const living = await profiles.holdProfiles(
    scope,
    passed.map(({ identity_id }) => identity_id),
  );
  const undeleted = await lockUndeleted(scope, [
    ...new Set(passed.map(({ automation_id }) => automation_id)),
  ]);
  return passed.filter(
    ({ identity_id, automation_id }) => living.has(identity_id) && undeleted.has(automation_id),
  );
};

/** Keeps by which profile the arms of splits were chosen: of each identity and split, that of the first run. */
export const keepArms = async (
  { tx, projectId }: Scope,
  passed: readonly Passed[],
): Promise<void> => {
  if (passed.length === 0) return;
  const column = (read: (one: Passed) => string | null, type: string) =>
    sql.array(passed.map(read), type);
  await tx.query(sql.unsafe`
    insert into automations.arms as known (project_id, automation_id, identity_id, step_id, profile_id, run_id,
      started_at)
    select distinct on (past.automation_id, past.identity_id, past.step_id) ${projectId}, past.automation_id,
      past.identity_id, past.step_id, past.profile_id, past.run_id, past.started_at
    from unnest(
      ${column((one) => one.automation_id, 'uuid')}, ${column((one) => one.identity_id, 'uuid')},
      ${column((one) => one.step_id, 'text')}, ${column((one) => one.profile_id, 'uuid')},
      ${column((one) => one.run_id, 'uuid')}, ${column((one) => one.started_at.toISOString(), 'timestamptz')}
    ) as past (automation_id, identity_id, step_id, profile_id, run_id, started_at)
    order by past.automation_id, past.identity_id, past.step_id, past.started_at, past.run_id
    on conflict (project_id, automation_id, identity_id, step_id) do update
    set profile_id = excluded.profile_id, run_id = excluded.run_id, started_at = excluded.started_at
    where excluded.started_at < known.started_at
  `);
};
