import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { noteChanges } from './change_queries.ts';

export const ERASURE_STATUSES = ['pending', 'done'] as const;
/** Who asked: a server key, or the ledger after a backup was restored. */
export const ERASURE_SOURCES = ['server_key', 'ledger'] as const;

const Counts = z.record(z.string(), z.int());

/** What proves an erase: rows removed or overwritten per table, and a keyed digest of that. */
export const StoredReceipt = z.strictObject({ tables: Counts, digest: z.string() });
export type StoredReceipt = z.output<typeof StoredReceipt>;

const Erasure = z.strictObject({
  erasure_id: z.uuid(),
  profile_id: z.uuid(),
  status: z.enum(ERASURE_STATUSES),
  reason: z.string().nullable(),
  requested_at: z.date(),
  done_at: z.date().nullable(),
  receipt: StoredReceipt.nullable(),
});
export type ErasureRow = z.output<typeof Erasure>;

const columns = sql.fragment`erasure_id, profile_id, status, reason, requested_at, done_at, receipt`;

export const findErasure = ({ tx, projectId }: Scope, erasureId: string) =>
  tx.maybeOne(sql.type(Erasure)`
    select ${columns} from profiles.erasures where project_id = ${projectId} and erasure_id = ${erasureId}
  `);

/** The erase of a profile, if one was ever asked for. */
export const findErasureOf = ({ tx, projectId }: Scope, profileId: string) =>
  tx.maybeOne(sql.type(Erasure)`
    select ${columns} from profiles.erasures
    where project_id = ${projectId} and profile_id = ${profileId}
    order by requested_at desc
    limit 1
  `);

export type NewErasure = {
  erasureId: string;
  profileId: string;
  reason: string | null;
  requestedBy: (typeof ERASURE_SOURCES)[number];
};

/** Asks for an erase; nothing when that erase was asked for before. */
export const insertErasure = ({ tx, projectId }: Scope, erasure: NewErasure) =>
  tx.maybeOne(sql.type(Erasure)`
    insert into profiles.erasures (project_id, erasure_id, profile_id, status, reason, requested_by, requested_at)
    values (${projectId}, ${erasure.erasureId}, ${erasure.profileId}, 'pending', ${erasure.reason},
      ${erasure.requestedBy}, now())
    on conflict (project_id, erasure_id) do nothing
    returning ${columns}
  `);

export const insertTombstones = ({ tx, projectId }: Scope, erasureId: string, hashes: Buffer[]) =>
  tx.query(sql.unsafe`
    insert into profiles.tombstones (project_id, erasure_id, identifier_hash)
    select ${projectId}, ${erasureId}::uuid, identifier_hash
    from unnest(${sql.array(hashes, 'bytea')}) as buried (identifier_hash)
    on conflict do nothing
  `);

const ProfileId = z.strictObject({ profile_id: z.uuid() });

/** Which profile answers to an id, whether or not it is being erased: its own, or the one it was merged into. */
export const findErasable = ({ tx, projectId }: Scope, profileId: string) =>
  tx.maybeOne(sql.type(ProfileId)`
    select coalesce(merged_into, profile_id) as profile_id from profiles.profiles
    where project_id = ${projectId} and profile_id = ${profileId}
  `);

/** Locks profiles until the transaction ends, in the order of all locks. */
export const holdProfiles = ({ tx, projectId }: Scope, profileIds: readonly string[]) =>
  tx.query(sql.unsafe`
    select from profiles.profiles
    where project_id = ${projectId} and profile_id = any (${sql.array(profileIds, 'uuid')})
    order by profile_id
    for update
  `);

/** Says of profiles that an erase is about them, under their locks. */
export const markProfiles = async (
  scope: Scope,
  erasureId: string,
  profileIds: readonly string[],
): Promise<void> => {
  await holdProfiles(scope, profileIds);
  await scope.tx.query(sql.unsafe`
    update profiles.profiles set erasure_id = ${erasureId}
    where project_id = ${scope.projectId} and profile_id = any (${sql.array(profileIds, 'uuid')})
    and erasure_id is null
  `);
  await noteChanges(scope, profileIds);
};

const Held = Erasure.pick({
  profile_id: true,
  status: true,
  reason: true,
  requested_at: true,
}).extend({ counts: Counts });
export type HeldErasure = z.output<typeof Held>;

/** Locks an erasure until the transaction ends: its steps come one after the other. */
export const holdErasure = ({ tx, projectId }: Scope, erasureId: string) =>
  tx.one(sql.type(Held)`
    select profile_id, status, reason, requested_at, counts from profiles.erasures
    where project_id = ${projectId} and erasure_id = ${erasureId}
    for update
  `);

export const setCounts = (
  { tx, projectId }: Scope,
  erasureId: string,
  counts: HeldErasure['counts'],
) =>
  tx.query(sql.unsafe`
    update profiles.erasures set counts = ${JSON.stringify(counts)}::jsonb
    where project_id = ${projectId} and erasure_id = ${erasureId}
  `);

export const deleteTraits = async (
  { tx, projectId }: Scope,
  identityIds: string[],
): Promise<number> => {
  const { rowCount } = await tx.query(sql.unsafe`
    delete from profiles.traits
    where project_id = ${projectId} and identity_id = any (${sql.array(identityIds, 'uuid')})
  `);
  return rowCount;
};

export const deleteBrowserTraits = async (
  { tx, projectId }: Scope,
  identityIds: string[],
): Promise<number> => {
  const { rowCount } = await tx.query(sql.unsafe`
    delete from profiles.browser_traits
    where project_id = ${projectId} and identity_id = any (${sql.array(identityIds, 'uuid')})
  `);
  return rowCount;
};

export const deleteProfiles = async (
  { tx, projectId }: Scope,
  profileIds: readonly string[],
): Promise<number> => {
  const { rowCount } = await tx.query(sql.unsafe`
    delete from profiles.profiles
    where project_id = ${projectId} and profile_id = any (${sql.array(profileIds, 'uuid')})
  `);
  return rowCount;
};

const Count = z.strictObject({ erased: z.int() });

/** How many erases of the project are done: whoever asks twice knows whether one ended in between. */
export const countErased = async ({ tx, projectId }: Scope): Promise<number> => {
  const row = await tx.maybeOne(sql.type(Count)`
    select erased from profiles.erase_counts where project_id = ${projectId}
  `);
  return row?.erased ?? 0;
};

/** Ends an erase. */
export const endErasure = async (
  { tx, projectId }: Scope,
  erasureId: string,
  { doneAt, receipt }: { doneAt: Date; receipt: StoredReceipt },
): Promise<void> => {
  await tx.query(sql.unsafe`
    update profiles.erasures
    set status = 'done', done_at = ${sql.timestamp(doneAt)}, reason = null, counts = '{}',
      receipt = ${JSON.stringify(receipt)}::jsonb
    where project_id = ${projectId} and erasure_id = ${erasureId}
  `);
  await tx.query(sql.unsafe`
    insert into profiles.erase_counts as counted (project_id, erased) values (${projectId}, 1)
    on conflict (project_id) do update set erased = counted.erased + 1
  `);
};

const Now = z.strictObject({ now: z.date() });

/** The database's clock. */
export const readClock = async ({ tx }: Scope): Promise<Date> =>
  (await tx.one(sql.type(Now)`select date_trunc('milliseconds', clock_timestamp()) as now`)).now;

const Table = z.strictObject({ name: z.string() });

/** Every table with a column that tells of people: what the columns' comments say (base.declare_columns). */
export const listCatalogue = async ({ tx }: Scope): Promise<string[]> => {
  const rows = await tx.any(sql.type(Table)`
    select distinct schema.nspname || '.' || relation.relname as name
    from pg_catalog.pg_description as comment
    join pg_catalog.pg_class as relation on relation.oid = comment.objoid and relation.relkind in ('r', 'p')
    join pg_catalog.pg_namespace as schema on schema.oid = relation.relnamespace
    where comment.classoid = 'pg_catalog.pg_class'::regclass and comment.objsubid > 0
    and comment.description = 'Of a person' and not relation.relispartition
    order by name
  `);
  return rows.map(({ name }) => name);
};

const Trait = z.strictObject({
  identity_id: z.uuid(),
  key: z.string(),
  value: z.json(),
  set_at: z.date(),
  authority: z.enum(['publishable', 'server']),
});

/** What an identity was told, trait by trait. */
const BrowserTrait = z.strictObject({
  key: z.string(),
  value: z.json(),
  set_at: z.date(),
});

/** What browsers asserted about an identity, whatever servers said. */
export const listBrowserTraits = ({ tx, projectId }: Scope, identityId: string) =>
  tx.any(sql.type(BrowserTrait)`
    select key, value, set_at from profiles.browser_traits
    where project_id = ${projectId} and identity_id = ${identityId}
    order by key
  `);

export const listTraits = ({ tx, projectId }: Scope, identityId: string) =>
  tx.any(sql.type(Trait)`
    select identity_id, key, value, set_at, authority from profiles.traits
    where project_id = ${projectId} and identity_id = ${identityId}
    order by key
  `);
