import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';

/** Keeps addresses in mind until they are looked at. */
export const insertAddresses = (
  { tx, projectId }: Scope,
  erasureId: string,
  addresses: readonly string[],
) =>
  tx.query(sql.unsafe`
    insert into profiles.erasing_addresses (project_id, erasure_id, address)
    select ${projectId}, ${erasureId}::uuid, address from unnest(${sql.array(addresses, 'text')}) as noted (address)
    on conflict do nothing
  `);

const Address = z.strictObject({ address: z.string() });

/** Addresses that are still to be looked at, `limit` at most. */
export const listAddresses = async (
  { tx, projectId }: Scope,
  erasureId: string,
  limit: number,
): Promise<string[]> => {
  const rows = await tx.any(sql.type(Address)`
    select address from profiles.erasing_addresses
    where project_id = ${projectId} and erasure_id = ${erasureId}
    order by address
    limit ${limit}
  `);
  return rows.map(({ address }) => address);
};

export const deleteAddresses = async (
  { tx, projectId }: Scope,
  erasureId: string,
  addresses: readonly string[],
): Promise<number> => {
  const { rowCount } = await tx.query(sql.unsafe`
    delete from profiles.erasing_addresses
    where project_id = ${projectId} and erasure_id = ${erasureId}
    and address = any (${sql.array(addresses, 'text')})
  `);
  return rowCount;
};

const Email = z.strictObject({ email: z.string() });

/** The addresses that profiles have, or that their identities were told. */
export const listEmails = async (
  { tx, projectId }: Scope,
  identityIds: readonly string[],
  profileIds: readonly string[],
): Promise<string[]> => {
  const rows = await tx.any(sql.type(Email)`
    select trait.value ->> 0 as email from profiles.traits as trait
    where trait.project_id = ${projectId} and trait.identity_id = any (${sql.array(identityIds, 'uuid')})
    and trait.key = 'email' and jsonb_typeof(trait.value) = 'string'
    union
    select asserted.value ->> 0 as email from profiles.browser_traits as asserted
    where asserted.project_id = ${projectId} and asserted.identity_id = any (${sql.array(identityIds, 'uuid')})
    and asserted.key = 'email' and jsonb_typeof(asserted.value) = 'string'
    union
    select profile.email from profiles.profiles as profile
    where profile.project_id = ${projectId} and profile.profile_id = any (${sql.array(profileIds, 'uuid')})
    and profile.email is not null
  `);
  return rows.map(({ email }) => email);
};

/** Those of some addresses (in lower case) that somebody has who is not being erased. */
export const listShared = async (
  { tx, projectId }: Scope,
  emails: readonly string[],
): Promise<string[]> => {
  const rows = await tx.any(sql.type(Email)`
    select distinct address as email from profiles.profiles
    where project_id = ${projectId} and address is not null and address = any (${sql.array(emails, 'text')})
    and erasure_id is null
  `);
  return rows.map(({ email }) => email);
};
