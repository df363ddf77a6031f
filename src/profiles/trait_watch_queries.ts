import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';

/** From the commit on, each change of these traits of a person is noted for `takeTraitChanges`. */
export const watchTraits = async (
  { tx, projectId }: Scope,
  traits: readonly string[],
): Promise<void> => {
  if (traits.length === 0) return;
  await tx.query(sql.unsafe`
    insert into profiles.watched_traits (project_id, trait)
    select ${projectId}, watched.trait from unnest(${sql.array([...traits], 'text')}) as watched (trait)
    order by watched.trait
    on conflict do nothing
  `);
};

const Changed = z.strictObject({ profile_id: z.uuid(), noted_at: z.date() });
/** A person with a change in a watched trait, and when that was. */
export type NotedChange = z.output<typeof Changed>;

/** Takes the oldest notes of changed traits, at most `changesMax`. */
export const takeTraitChanges = (
  { tx, projectId }: Scope,
  changesMax: number,
): Promise<readonly NotedChange[]> =>
  tx.any(sql.type(Changed)`
    delete from profiles.trait_changes as change
    using (
      select noted_at, change_id from profiles.trait_changes
      where project_id = ${projectId}
      order by noted_at, change_id
      limit ${changesMax}
      for update skip locked
    ) as taken
    where change.project_id = ${projectId}
    and change.noted_at = taken.noted_at and change.change_id = taken.change_id
    returning change.profile_id, change.noted_at
  `);
