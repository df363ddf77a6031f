import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';

/**
 * From the commit on, everybody who changes is noted, save by those who change people just now and found that
 * nobody watched: whoever looks at people waits for them first, with `awaitUnwatched`.
 */
export const watch = ({ tx, projectId }: Scope) =>
  tx.query(sql.unsafe`
    insert into profiles.watches as watch (project_id, is_watched) values (${projectId}, true)
    on conflict (project_id) do update set is_watched = true
  `);

/** Waits for those who changed people without noting it, once `watch` is committed. */
export const awaitUnwatched = ({ tx, projectId }: Scope) =>
  tx.query(sql.unsafe`
    select from profiles.watches where project_id = ${projectId} for update
  `);

/** Nobody is noted any more. */
export const unwatch = ({ tx, projectId }: Scope) =>
  tx.query(sql.unsafe`
    update profiles.watches set is_watched = false where project_id = ${projectId}
  `);

const Changed = z.strictObject({
  profile_id: z.uuid(),
  source: z.enum(['server', 'browser']).nullable(),
});

/** Takes the oldest notes of changed people, so many at most; returns each once, with who caused the changes. */
export const takeChanges = async (
  { tx, projectId }: Scope,
  changesMax: number,
): Promise<Map<string, 'server' | 'browser' | null>> => {
  const rows = await tx.any(sql.type(Changed)`
    select profile_id, source
    from profiles.take_changes(project_id => ${projectId}, changes_max => ${changesMax})
  `);
  return new Map(rows.map(({ profile_id, source }) => [profile_id, source]));
};

const Note = z.strictObject({ noted_at: z.string(), change_id: z.uuid(), profile_id: z.uuid() });

/** Takes the notes of some people who changed; answers whose there were, each once. */
export const takeChangesOf = async (
  { tx, projectId }: Scope,
  profileIds: readonly string[],
): Promise<string[]> => {
  const notes = await tx.any(sql.type(Note)`
    select noted_at::text, change_id, profile_id from profiles.changes
    where project_id = ${projectId} and profile_id = any (${sql.array([...profileIds], 'uuid')})
    order by noted_at, change_id
    for update skip locked
  `);
  if (notes.length === 0) return [];
  const column = (name: 'noted_at' | 'change_id', type: string) =>
    sql.array(
      notes.map((note) => note[name]),
      type,
    );
  await tx.query(sql.unsafe`
    delete from profiles.changes as change
    using unnest(${column('noted_at', 'timestamptz')}, ${column('change_id', 'uuid')})
      as taken (noted_at, change_id)
    where change.project_id = ${projectId}
    and change.noted_at = taken.noted_at and change.change_id = taken.change_id
  `);
  return [...new Set(notes.map(({ profile_id }) => profile_id))];
};
