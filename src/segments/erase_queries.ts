import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';

/** Removes what was counted of identities, so many rows at most; answers how many there were. */
export const deleteCountersOf = async (
  { tx, projectId }: Scope,
  identityIds: readonly string[],
  rowsMax: number,
): Promise<number> => {
  const { rowCount } = await tx.query(sql.unsafe`
    delete from segments.counters as counted
    using (
      select identity_id, condition_id, day from segments.counters
      where project_id = ${projectId} and identity_id = any (${sql.array([...identityIds], 'uuid')})
      order by identity_id, condition_id, day
      limit ${rowsMax}
    ) as page
    where counted.project_id = ${projectId} and counted.identity_id = page.identity_id
    and counted.condition_id = page.condition_id and counted.day = page.day
  `);
  return rowCount;
};

/** Removes profiles from the history, so many lines at most; answers how many there were. */
export const deleteHistoryOf = async (
  { tx, projectId }: Scope,
  profileIds: readonly string[],
  rowsMax: number,
): Promise<number> => {
  const { rowCount } = await tx.query(sql.unsafe`
    delete from segments.history as told
    using (
      select entry from segments.history
      where project_id = ${projectId} and profile_id = any (${sql.array([...profileIds], 'uuid')})
      order by entry
      limit ${rowsMax}
    ) as page
    where told.project_id = ${projectId} and told.entry = page.entry
  `);
  return rowCount;
};

/** Takes profiles out of every segment; there are few segments. */
export const deleteMembershipsOf = async (
  { tx, projectId }: Scope,
  profileIds: readonly string[],
): Promise<number> => {
  const ids = sql.array([...profileIds], 'uuid');
  const { rowCount } = await tx.query(sql.unsafe`
    delete from segments.members where project_id = ${projectId} and profile_id = any (${ids})
  `);
  await tx.query(sql.unsafe`
    delete from segments.wakeups where project_id = ${projectId} and profile_id = any (${ids})
  `);
  return rowCount;
};

const Membership = z.strictObject({
  segment_id: z.uuid(),
  name: z.string(),
  entered_at: z.date(),
});
export type HeldMembership = z.output<typeof Membership>;

/** The segments that a profile is in. */
export const listMembershipsOf = ({ tx, projectId }: Scope, profileId: string) =>
  tx.any(sql.type(Membership)`
    select segment.segment_id, segment.name, member.entered_at
    from segments.members as member
    join segments.segments as segment
      on segment.project_id = member.project_id and segment.segment_id = member.segment_id
    where member.project_id = ${projectId} and segment.project_id = ${projectId}
    and member.profile_id = ${profileId} and segment.status <> 'deleting'
    order by segment.segment_id
  `);
