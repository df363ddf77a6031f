import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';

const Found = z.strictObject({ identity_id: z.uuid(), profile_id: z.uuid(), at: z.int() });

/** One identity of each profile that has one of some addresses; with the place of the address, from 0. */
export const findByAddress = ({ tx, projectId }: Scope, addresses: readonly string[]) =>
  tx.any(sql.type(Found)`
    select known.identity_id, profile.profile_id, (told.ordinal - 1)::integer as at
    from unnest(${sql.array([...addresses], 'text')}) with ordinality as told (address, ordinal)
    cross join lateral (
      select profile_id from profiles.profiles
      where project_id = ${projectId} and address = told.address and erasure_id is null
    ) as profile
    cross join lateral (
      select identity_id from identity.identities
      where project_id = ${projectId} and profile_id = profile.profile_id and erasure_id is null
      order by kind desc, value
      limit 1
    ) as known
  `);

/** Keeps who was imported; they are held. */
export const insertImported = async (
  { tx, projectId }: Scope,
  told: { segmentId: string; importId: string },
  identityIds: readonly string[],
): Promise<void> => {
  await tx.query(sql.unsafe`
    insert into segments.imported (project_id, segment_id, identity_id, import_id)
    select ${projectId}, ${told.segmentId}::uuid, held.identity_id, ${told.importId}::uuid
    from unnest(${sql.array([...identityIds], 'uuid')}) as held (identity_id)
    on conflict do nothing
  `);
};

const IdentityId = z.strictObject({ identity_id: z.uuid() });

/** Whom an import put on its list. */
export const listImportedBy = async (
  { tx, projectId }: Scope,
  importId: string,
): Promise<string[]> => {
  const rows = await tx.any(sql.type(IdentityId)`
    select identity_id from segments.imported where project_id = ${projectId} and import_id = ${importId}
  `);
  return rows.map(({ identity_id }) => identity_id);
};

export const deleteImport = ({ tx, projectId }: Scope, importId: string) =>
  tx.query(sql.unsafe`
    delete from segments.imported where project_id = ${projectId} and import_id = ${importId}
  `);

const ProfileId = z.strictObject({ profile_id: z.uuid() });

/** Whom the lists of a segment name, as they are today. */
export const listImported = async (
  { tx, projectId }: Scope,
  segmentId: string,
): Promise<string[]> => {
  const rows = await tx.any(sql.type(ProfileId)`
    select distinct known.profile_id
    from segments.imported as imported
    join identity.identities as known
      on known.project_id = imported.project_id and known.identity_id = imported.identity_id
    where imported.project_id = ${projectId} and known.project_id = ${projectId}
    and imported.segment_id = ${segmentId}
  `);
  return rows.map(({ profile_id }) => profile_id);
};

const Import = z.strictObject({ people: z.int(), undone_at: z.date().nullable() });

/** Remembers an import; null when it is known already. */
export const insertImport = ({ tx, projectId }: Scope, segmentId: string, importId: string) =>
  tx.maybeOne(sql.type(Import)`
    insert into segments.imports (project_id, segment_id, import_id, people, imported_at)
    values (${projectId}, ${segmentId}, ${importId}, 0, now())
    on conflict do nothing
    returning people, undone_at
  `);

export const findImport = ({ tx, projectId }: Scope, importId: string) =>
  tx.maybeOne(sql.type(Import)`
    select people, undone_at from segments.imports
    where project_id = ${projectId} and import_id = ${importId}
  `);

export const setImport = ({ tx, projectId }: Scope, importId: string, people: number) =>
  tx.query(sql.unsafe`
    update segments.imports set people = ${people}
    where project_id = ${projectId} and import_id = ${importId}
  `);

const SegmentId = z.strictObject({ segment_id: z.uuid() });

/** Says that an import was taken back. Returns its segment; null where that was said before. */
export const setUndone = async (
  { tx, projectId }: Scope,
  importId: string,
): Promise<string | null> => {
  const row = await tx.maybeOne(sql.type(SegmentId)`
    update segments.imports set undone_at = now()
    where project_id = ${projectId} and import_id = ${importId} and undone_at is null
    returning segment_id
  `);
  return row?.segment_id ?? null;
};

/** The static segments that a profile was imported into, by any of its identities. */
export const listImportedInto = async (
  { tx, projectId }: Scope,
  profileId: string,
): Promise<string[]> => {
  const rows = await tx.any(sql.type(SegmentId)`
    select distinct imported.segment_id
    from identity.identities as known
    join segments.imported as imported
      on imported.project_id = known.project_id and imported.identity_id = known.identity_id
    where known.project_id = ${projectId} and imported.project_id = ${projectId}
    and known.profile_id = ${profileId} and known.erasure_id is null
  `);
  return rows.map(({ segment_id }) => segment_id);
};

/** Takes identities out of every list; answers how many lines there were. */
export const deleteImportedOf = async (
  { tx, projectId }: Scope,
  identityIds: readonly string[],
): Promise<number> => {
  const { rowCount } = await tx.query(sql.unsafe`
    delete from segments.imported
    where project_id = ${projectId} and identity_id = any (${sql.array([...identityIds], 'uuid')})
  `);
  return rowCount;
};

const Imported = z.strictObject({ identity_id: z.uuid() });

/** Returns those of some people who are in a list. */
export const listWithImports = async (
  { tx, projectId }: Scope,
  people: readonly { identity_id: string }[],
): Promise<Set<string>> => {
  const ids = people.map(({ identity_id }) => identity_id);
  const rows = await tx.any(sql.type(Imported)`
    select distinct identity_id from segments.imported
    where project_id = ${projectId} and identity_id = any (${sql.array(ids, 'uuid')})
  `);
  return new Set(rows.map(({ identity_id }) => identity_id));
};
