import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { IDENTIFIER_KINDS } from './queries.ts';

const Member = z.strictObject({
  identity_id: z.uuid(),
  kind: z.enum(IDENTIFIER_KINDS),
  value: z.string(),
  profile_id: z.uuid(),
  own_profile_id: z.uuid(),
  erasure_id: z.uuid().nullable(),
});
/** One of the identities of a person: the profile it belongs to, the one it would have alone, and its erase. */
export type Member = z.output<typeof Member>;

const columns = sql.fragment`identity_id, kind, value, profile_id, own_profile_id, erasure_id`;

/** Locks every identity of a profile until the transaction ends. */
export const holdPerson = ({ tx, projectId }: Scope, profileId: string) =>
  tx.any(sql.type(Member)`
    select ${columns} from identity.hold_person(project_id => ${projectId}, profile_id => ${profileId})
  `);

/** Locks every identity that an erase is about until the transaction ends, in the order of all locks. */
export const holdErased = ({ tx, projectId }: Scope, erasureId: string) =>
  tx.any(sql.type(Member)`
    select ${columns} from identity.identities
    where project_id = ${projectId} and erasure_id = ${erasureId}
    order by kind, value
    for update
  `);

/** The same without a lock. */
export const listErased = ({ tx, projectId }: Scope, erasureId: string) =>
  tx.any(sql.type(Member)`
    select ${columns} from identity.identities
    where project_id = ${projectId} and erasure_id = ${erasureId}
    order by kind desc, value
  `);

/** Every identity of a profile, and the profile that each would have alone. */
export const listMembers = ({ tx, projectId }: Scope, profileId: string) =>
  tx.any(sql.type(Member)`
    select ${columns} from identity.identities
    where project_id = ${projectId} and profile_id = ${profileId}
    order by kind desc, value
  `);

/** Says of identities that an erase is about them, unless another one is. */
export const markErased = ({ tx, projectId }: Scope, erasureId: string, identityIds: string[]) =>
  tx.query(sql.unsafe`
    update identity.identities set erasure_id = ${erasureId}
    where project_id = ${projectId} and identity_id = any (${sql.array(identityIds, 'uuid')})
    and erasure_id is null
  `);

const Held = z.strictObject({ identity_id: z.uuid(), profile_id: z.uuid() });

/**
 * The profiles that identities belong to, which stays true until the transaction ends. Those that are
 * gone or being erased are left out. Locked in the order of all locks.
 */
export const holdLiving = ({ tx, projectId }: Scope, identityIds: string[]) =>
  tx.any(sql.type(Held)`
    select identity_id, profile_id from identity.identities
    where project_id = ${projectId} and identity_id = any (${sql.array(identityIds, 'uuid')})
    and erasure_id is null
    order by kind, value
    for share
  `);

/** Removes the log of links that name somebody, on either side, whatever became of them. */
export const deleteLinks = async (
  { tx, projectId }: Scope,
  ownProfileIds: string[],
): Promise<number> => {
  const ids = sql.array(ownProfileIds, 'uuid');
  const { rowCount } = await tx.query(sql.unsafe`
    delete from identity.links
    where project_id = ${projectId} and (profile_id = any (${ids}) or anonymous_profile_id = any (${ids}))
  `);
  return rowCount;
};

export const deleteIdentities = async (
  { tx, projectId }: Scope,
  identityIds: string[],
): Promise<number> => {
  const { rowCount } = await tx.query(sql.unsafe`
    delete from identity.identities
    where project_id = ${projectId} and identity_id = any (${sql.array(identityIds, 'uuid')})
  `);
  return rowCount;
};

const Scanned = z.strictObject({
  identity_id: z.uuid(),
  kind: z.enum(IDENTIFIER_KINDS),
  value: z.string(),
  own_profile_id: z.uuid(),
});
export type Scanned = z.output<typeof Scanned>;

/** Every identity of the project, page by page, in the order of their ids. */
export const scanIdentities = ({ tx, projectId }: Scope, after: string | null, limit: number) => {
  const later = after === null ? sql.fragment`` : sql.fragment`and identity_id > ${after}`;
  return tx.any(sql.type(Scanned)`
    select identity_id, kind, value, own_profile_id from identity.identities
    where project_id = ${projectId} ${later}
    order by identity_id
    limit ${limit}
  `);
};
