import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Db, Tx } from '../base/db.ts';
import { signOutElsewhere } from './session_queries.ts';

const Known = z.strictObject({ person_id: z.uuid(), password_hash: z.string() });

const Found = z.strictObject({ is_found: z.boolean() });
const Listed = z.strictObject({
  person_id: z.uuid(),
  email: z.string(),
  is_admin: z.boolean(),
  created_at: z.date(),
  projects: z.int(),
});
const Count = z.strictObject({ count: z.int() });
/** What both the pool and a transaction of it can do. */
type Asked = Pick<Db, 'query' | 'maybeOne' | 'one' | 'any'>;

export type NewPerson = {
  personId: string;
  email: string;
  passwordHash: string;
  isAdmin: boolean;
};

/** `email` in the form in which addresses are compared. */
export const findByEmail = (db: Pick<Db, 'maybeOne'>, email: string) =>
  db.maybeOne(sql.type(Known)`
    select person_id, password_hash from admin.people where lower(email) = ${email}
  `);

export const insertPerson = (
  db: Pick<Db, 'query'>,
  { personId, email, passwordHash, isAdmin }: NewPerson,
) =>
  db.query(sql.unsafe`
    insert into admin.people (person_id, email, password_hash, is_admin, created_at)
    values (${personId}, ${email}, ${passwordHash}, ${isAdmin}, now())
    on conflict (lower(email)) do nothing
  `);

/** Sets a password. All sessions of the person end and all devices are unknown, except the kept session's. */
export const setPassword = async (
  tx: Tx,
  personId: string,
  { passwordHash, keptSession }: { passwordHash: string; keptSession: Buffer | null },
): Promise<void> => {
  await tx.query(sql.unsafe`
    update admin.people set password_hash = ${passwordHash} where person_id = ${personId}
  `);
  await signOutElsewhere(tx, personId, keptSession);
};

export const setAdmin = (tx: Tx, personId: string) =>
  tx.query(sql.unsafe`
    update admin.people set is_admin = true where person_id = ${personId} and not is_admin
  `);

export const findPasswordHash = (db: Db, personId: string) =>
  db.maybeOne(sql.type(Known)`
    select person_id, password_hash from admin.people where person_id = ${personId}
  `);

/** Whether an address is a member's of the project, or, of none, an administrator's. */
export const isMemberAlready = async (
  tx: Asked,
  projectId: string | null,
  email: string,
): Promise<boolean> => {
  const { is_found } = await tx.one(sql.type(Found)`
    select exists (
      select from admin.people as person
      where lower(person.email) = lower(${email})
      and case when ${projectId}::uuid is null then person.is_admin else exists (
        select from admin.members as member
        where member.project_id = ${projectId}::uuid and member.person_id = person.person_id
      ) end
    ) as is_found
  `);
  return is_found;
};

type Page = { limit: number; beforeId: string | null };

/** Everybody who has an account, the newest first. */
export const listPeople = (db: Db, { limit, beforeId }: Page) => {
  const earlier = beforeId ? sql.fragment`where person.person_id < ${beforeId}` : sql.fragment``;
  return db.any(sql.type(Listed)`
    select person.person_id, person.email, person.is_admin, person.created_at, (
      select count(*)::int from admin.members as member where member.person_id = person.person_id
    ) as projects
    from admin.people as person ${earlier}
    order by person.person_id desc
    limit ${limit}
  `);
};

/** Lets no administrator go or come until the transaction ends. */
export const holdAdministrators = (tx: Tx) =>
  tx.any(sql.type(z.strictObject({ person_id: z.uuid() }))`
    select person_id from admin.people where is_admin order by person_id for update
  `);

/** The projects that a person is the only owner of; held, so that it stays so. */
export const countOnlyOwned = async (tx: Tx, personId: string): Promise<number> => {
  await tx.query(sql.unsafe`
    select from admin.members
    where role = 'owner' and project_id in (
      select project_id from admin.members where person_id = ${personId} and role = 'owner'
    )
    order by project_id, person_id for update
  `);
  const { count } = await tx.one(sql.type(Count)`
    select count(*)::int as count from admin.members as mine
    where mine.person_id = ${personId} and mine.role = 'owner' and not exists (
      select from admin.members as other
      where other.project_id = mine.project_id and other.role = 'owner' and other.person_id <> ${personId}
    )
  `);
  return count;
};

/** Removes an account, with its sessions and memberships; answers whether there was one. */
export const deletePerson = async (tx: Tx, personId: string): Promise<boolean> => {
  const { rowCount } = await tx.query(sql.unsafe`
    delete from admin.people where person_id = ${personId}
  `);
  return rowCount > 0;
};
