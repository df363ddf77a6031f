import { z } from 'zod';
import { sql } from '../../base/db.ts';
import type { Scope } from '../../base/db.ts';
import { FIRST_ID } from '../../base/ids.ts';
import { nowInMs } from '../../base/now_in_ms.ts';

const HasRuns = z.strictObject({ has_runs: z.boolean() });

/** Returns whether an identity was ever enrolled in an automation. Tests do not count. */
export const hasRuns = async ({ tx, projectId }: Scope, identityId: string): Promise<boolean> =>
  (
    await tx.one(sql.type(HasRuns)`
      select exists (
        select from automations.runs
        where project_id = ${projectId} and identity_id = ${identityId} and not is_test
      ) or exists (
        select from automations.enrollments
        where project_id = ${projectId} and identity_id = ${identityId}
      ) as has_runs
    `)
  ).has_runs;

/**
 * Records that runs of some people have to be compared, because an identity joined or left them. Until that is done
 * their runs wait. A comparison that is under way begins again.
 */
export const insertPending = async (
  { tx, projectId }: Scope,
  profileIds: readonly string[],
  { isUndo }: { isUndo: boolean },
): Promise<void> => {
  await tx.query(sql.unsafe`
    insert into automations.pending_merges as known (project_id, profile_id, walked_to, is_undo, noted_at)
    select ${projectId}, moved.profile_id, ${FIRST_ID}, ${isUndo}, ${nowInMs}
    from unnest(${sql.array([...profileIds].toSorted(), 'uuid')}) as moved (profile_id)
    on conflict (project_id, profile_id) do update
    set walked_to = excluded.walked_to, is_undo = known.is_undo or excluded.is_undo, noted_at = excluded.noted_at
  `);
};

const Waiting = z.strictObject({ profile_id: z.uuid() });

/** Returns those of some people whose runs have to be compared first. */
export const listPending = async (
  { tx, projectId }: Scope,
  profileIds: readonly string[],
): Promise<string[]> => {
  if (profileIds.length === 0) return [];
  const rows = await tx.any(sql.type(Waiting)`
    select profile_id from automations.pending_merges
    where project_id = ${projectId} and profile_id = any (${sql.array([...profileIds], 'uuid')})
  `);
  return rows.map(({ profile_id }) => profile_id);
};

const Pending = z.strictObject({ walked_to: z.uuid(), is_undo: z.boolean() });

/** Locks the comparison of a person that is not done, and returns how far it is. */
export const lockPending = ({ tx, projectId }: Scope, profileId: string) =>
  tx.maybeOne(sql.type(Pending)`
    select walked_to, is_undo from automations.pending_merges
    where project_id = ${projectId} and profile_id = ${profileId}
    for update
  `);

/** Stores the last run that was compared. */
export const updatePending = ({ tx, projectId }: Scope, profileId: string, walkedTo: string) =>
  tx.query(sql.unsafe`
    update automations.pending_merges set walked_to = ${walkedTo}
    where project_id = ${projectId} and profile_id = ${profileId}
  `);

/** Deletes a comparison that is done. */
export const deletePending = ({ tx, projectId }: Scope, profileId: string) =>
  tx.query(sql.unsafe`
    delete from automations.pending_merges
    where project_id = ${projectId} and profile_id = ${profileId}
  `);
