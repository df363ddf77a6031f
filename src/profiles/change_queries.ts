import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { aspectOf } from './aspects.ts';
import { aspectsColumn, reasonsColumn } from './change_reasons.ts';
import type { ChangeNote, ChangeReason } from './change_reasons.ts';

/** Notes people who changed, after the change and under its locks. */
export const noteChanges = (
  { tx, projectId }: Scope,
  profileIds: readonly string[],
  { source = null, reasons = [], aspects = [] }: ChangeNote = {},
) =>
  tx.query(sql.unsafe`
    select from profiles.note_changes(
      project_id => ${projectId}, profile_ids => ${sql.array([...profileIds], 'uuid')},
      source => ${source}, reasons => ${reasonsColumn(reasons)}, aspects => ${aspectsColumn(aspects)}
    )
  `);

const Tagged = z.strictObject({ profile_id: z.uuid(), old_tags: z.array(z.string()) });

/** Returns what only one of two lists has. */
const listOther = (some: readonly string[], others: readonly string[]): string[] => [
  ...some.filter((one) => !others.includes(one)),
  ...others.filter((one) => !some.includes(one)),
];

const aspectOfTag = (tag: string): number => aspectOf('tag', tag);

/** Gives some profiles, which are locked, these tags and no others. `reason` says why they change. */
export const setTags = async (
  scope: Scope,
  profileIds: readonly string[],
  tags: readonly string[],
  reason: ChangeReason | null = null,
): Promise<void> => {
  const changed = await scope.tx.any(sql.type(Tagged)`
    update profiles.profiles as profile set tags = ${sql.array([...tags], 'text')}, updated_at = now()
    from profiles.profiles as before
    where profile.project_id = ${scope.projectId}
    and profile.profile_id = any (${sql.array([...profileIds], 'uuid')})
    and before.project_id = ${scope.projectId} and before.profile_id = profile.profile_id
    and before.tags is distinct from ${sql.array([...tags], 'text')}
    returning profile.profile_id, before.tags as old_tags
  `);
  if (changed.length === 0) return;
  await noteChanges(
    scope,
    changed.map(({ profile_id }) => profile_id),
    {
      reasons: changed.map(() => reason),
      aspects: changed.map(({ old_tags }) => listOther(tags, old_tags).map(aspectOfTag)),
    },
  );
};
