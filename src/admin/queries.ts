import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Db } from '../base/db.ts';

const Known = z.strictObject({ person_id: z.uuid(), password_hash: z.string() });

const SignedIn = z.strictObject({
  person_id: z.uuid(),
  email: z.string(),
  is_admin: z.boolean(),
  is_last_seen_old: z.boolean(),
});

export type NewPerson = {
  personId: string;
  email: string;
  passwordHash: string;
  isAdmin: boolean;
};

/** `email` in the form in which addresses are compared. */
export const findByEmail = (db: Db, email: string) =>
  db.maybeOne(sql.type(Known)`
    select person_id, password_hash from admin.people where lower(email) = ${email}
  `);

export const insertPerson = (db: Db, { personId, email, passwordHash, isAdmin }: NewPerson) =>
  db.query(sql.unsafe`
    insert into admin.people (person_id, email, password_hash, is_admin, created_at)
    values (${personId}, ${email}, ${passwordHash}, ${isAdmin}, now())
    on conflict (lower(email)) do nothing
  `);

/** Sets a password and ends the sessions that the old one opened, both or neither. */
export const setPassword = (db: Db, personId: string, passwordHash: string): Promise<void> =>
  db.transaction(async (tx) => {
    await tx.query(sql.unsafe`
      update admin.people set password_hash = ${passwordHash} where person_id = ${personId}
    `);
    await tx.query(sql.unsafe`delete from admin.sessions where person_id = ${personId}`);
  });

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
