import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Aspects } from './aspects.ts';

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
  is_fresh: z.boolean(),
  reasons: z.array(z.json()).nullable(),
  aspects: z.array(z.array(z.int())).nullable(),
});
/** What is noted of a person who changed. */
export type ChangeNotes = {
  /** Who caused the changes, where that is known. */
  source: z.output<typeof Changed>['source'];
  /** Why each was made; null stands for something fresh. */
  reasons: readonly z.core.util.JSONType[];
  /** What changed. */
  aspects: Aspects;
};
const FRESH: ChangeNotes['reasons'] = [null];

/** Takes the oldest notes of changed people, so many at most. Returns each person once. */
export const takeChanges = async (
  { tx, projectId }: Scope,
  changesMax: number,
): Promise<Map<string, ChangeNotes>> => {
  const rows = await tx.any(sql.type(Changed)`
    select profile_id, source, is_fresh, reasons, aspects
    from profiles.take_changes(project_id => ${projectId}, changes_max => ${changesMax})
  `);
  return new Map(
    rows.map(({ profile_id, source, is_fresh, reasons, aspects }) => [
      profile_id,
      {
        source,
        reasons: [...(is_fresh ? FRESH : []), ...(reasons ?? [])],
        aspects: aspects?.flat() ?? null,
      },
    ]),
  );
};

const Note = z.strictObject({
  noted_at: z.string(),
  change_id: z.uuid(),
  profile_id: z.uuid(),
  reason: z.json(),
});

/** Takes the notes of some people who changed. Returns each of those once, without who caused the changes, and what. */
export const takeChangesOf = async (
  { tx, projectId }: Scope,
  profileIds: readonly string[],
): Promise<Map<string, ChangeNotes>> => {
  const notes = await tx.any(sql.type(Note)`
    select noted_at::text, change_id, profile_id, reason from profiles.changes
    where project_id = ${projectId} and profile_id = any (${sql.array([...profileIds], 'uuid')})
    order by noted_at, change_id
    for update skip locked
  `);
  if (notes.length === 0) return new Map();
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
  const byPerson = Map.groupBy(notes, ({ profile_id }) => profile_id);
  return new Map(
    [...byPerson].map(([id, own]) => [
      id,
      { source: null, reasons: own.map(({ reason }) => reason), aspects: null },
    ]),
  );
};

const Pending = z.strictObject({ profile_id: z.uuid(), reasons: z.array(z.json()) });

/** Lists why some people changed by notes that are still to be taken, without notes that say nothing. */
export const listPendingReasons = async (
  { tx, projectId }: Scope,
  profileIds: readonly string[],
): Promise<Map<string, ChangeNotes['reasons']>> => {
  const rows = await tx.any(sql.type(Pending)`
    select profile_id, jsonb_agg(reason) as reasons from profiles.changes
    where project_id = ${projectId} and profile_id = any (${sql.array([...profileIds], 'uuid')})
    and reason is not null
    group by profile_id
  `);
  return new Map(rows.map(({ profile_id, reasons }) => [profile_id, reasons]));
};
