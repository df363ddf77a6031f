import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Db, Tx } from '../base/db.ts';
import { deleteOtherDevices } from './device_queries.ts';

const Known = z.strictObject({ person_id: z.uuid(), password_hash: z.string() });

const SignedIn = z.strictObject({
  person_id: z.uuid(),
  email: z.string(),
  is_admin: z.boolean(),
  is_last_seen_old: z.boolean(),
});

const Session = z.strictObject({
  session_id: z.uuid(),
  created_at: z.date(),
  last_seen_at: z.date(),
  expires_at: z.date(),
  is_current: z.boolean(),
});
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

/** The session and the device that a person keeps where all others end. */
export type KeptPlace = { sessionHash: Buffer | null; deviceHash: Buffer | null };

/** Sets a password. The sessions that the old one opened end and their devices are unknown, except the kept ones. */
export const setPassword = async (
  tx: Tx,
  personId: string,
  { passwordHash, kept }: { passwordHash: string; kept: KeptPlace },
): Promise<void> => {
  await tx.query(sql.unsafe`
    update admin.people set password_hash = ${passwordHash} where person_id = ${personId}
  `);
  await signOutElsewhere(tx, personId, kept);
};

/** Ends the other sessions of a person and makes the other devices unknown; returns how many sessions ended. */
export const signOutElsewhere = async (
  tx: Pick<Db, 'query'>,
  personId: string,
  { sessionHash, deviceHash }: KeptPlace,
): Promise<number> => {
  const { rowCount } = await deleteOtherSessions(tx, personId, sessionHash);
  await deleteOtherDevices(tx, personId, deviceHash);
  return rowCount;
};

const deleteOtherSessions = (tx: Pick<Db, 'query'>, personId: string, keptHash: Buffer | null) => {
  const but = keptHash ? sql.fragment`and session_hash <> ${sql.binary(keptHash)}` : sql.fragment``;
  return tx.query(sql.unsafe`delete from admin.sessions where person_id = ${personId} ${but}`);
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

/** The live sessions of a person, the last to be used first. */
export const listSessions = (
  db: Db,
  { personId, currentHash, limit }: { personId: string; currentHash: Buffer; limit: number },
) =>
  db.any(sql.type(Session)`
    select session_id, created_at, last_seen_at, expires_at,
      session_hash = ${sql.binary(currentHash)} as is_current
    from admin.sessions
    where person_id = ${personId} and expires_at > now()
    order by last_seen_at desc, session_id
    limit ${limit}
  `);

/** Ends one session of a person; answers whether there was one. */
export const deleteSessionOf = async (
  tx: Tx,
  personId: string,
  sessionId: string,
): Promise<boolean> => {
  const { rowCount } = await tx.query(sql.unsafe`
    delete from admin.sessions where person_id = ${personId} and session_id = ${sessionId}
  `);
  return rowCount > 0;
};

type NewSession = { sessionHash: Buffer; personId: string; livesForDays: number };

export const insertSession = (db: Db, { sessionHash, personId, livesForDays }: NewSession) =>
  db.query(sql.unsafe`
    insert into admin.sessions (session_hash, person_id, created_at, expires_at, last_seen_at)
    values (${sql.binary(sessionHash)}, ${personId}, now(), now() + make_interval(days => ${livesForDays}), now())
  `);

/** The person of a live session, and whether its last use was noted longer ago than `seconds`. */
export const findSignedIn = (db: Db, sessionHash: Buffer, seconds: number) =>
  db.maybeOne(sql.type(SignedIn)`
    select person.person_id, person.email, person.is_admin,
      session.last_seen_at < now() - make_interval(secs => ${seconds}) as is_last_seen_old
    from admin.sessions as session
    join admin.people as person on person.person_id = session.person_id
    where session.session_hash = ${sql.binary(sessionHash)} and session.expires_at > now()
  `);

const Place = z.strictObject({ place: z.int() });

/** Of sessions and the projects that they look on at, the places of those that still may. */
export const listLooking = (db: Db, asked: readonly { session: Buffer; projectId: string }[]) =>
  db.any(sql.type(Place)`
    select asked.place::int
    from unnest(
      ${sql.array(
        asked.map(({ session }) => session),
        'bytea',
      )},
      ${sql.array(
        asked.map(({ projectId }) => projectId),
        'uuid',
      )}
    ) with ordinality as asked (session_hash, project_id, place)
    join admin.sessions as session
      on session.session_hash = asked.session_hash and session.expires_at > now()
    join admin.people as person on person.person_id = session.person_id
    where person.is_admin or exists (
      select from admin.members as member
      where member.project_id = asked.project_id and member.person_id = person.person_id
    )
  `);

export const seeSession = (db: Db, sessionHash: Buffer) =>
  db.query(sql.unsafe`
    update admin.sessions set last_seen_at = now() where session_hash = ${sql.binary(sessionHash)}
  `);

export const deleteSession = (db: Db, sessionHash: Buffer) =>
  db.query(sql.unsafe`
    delete from admin.sessions where session_hash = ${sql.binary(sessionHash)}
  `);

export const deleteExpired = (db: Db) =>
  db.query(sql.unsafe`delete from admin.sessions where expires_at <= now()`);
