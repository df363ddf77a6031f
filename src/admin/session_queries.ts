import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Db, Tx } from '../base/db.ts';
import { deleteDevice, deleteOtherDevices } from './device_queries.ts';

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

const Ended = z.strictObject({ device_id: z.uuid().nullable() });

/** Ends one session of a person and makes its device unknown; returns whether there was one. */
export const deleteSessionOf = async (
  tx: Tx,
  personId: string,
  sessionId: string,
): Promise<boolean> => {
  const ended = await tx.maybeOne(sql.type(Ended)`
    delete from admin.sessions where person_id = ${personId} and session_id = ${sessionId}
    returning device_id
  `);
  if (ended?.device_id) await deleteDevice(tx, personId, ended.device_id);
  return ended !== null;
};

type NewSession = {
  sessionHash: Buffer;
  personId: string;
  deviceId: string | null;
  livesForDays: number;
};

export const insertSession = (
  db: Db,
  { sessionHash, personId, deviceId, livesForDays }: NewSession,
) =>
  db.query(sql.unsafe`
    insert into admin.sessions (session_hash, person_id, device_id, created_at, expires_at, last_seen_at)
    values (${sql.binary(sessionHash)}, ${personId}, ${deviceId}, now(),
      now() + make_interval(days => ${livesForDays}), now())
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

/** Ends the other sessions of a person and makes their devices unknown; returns how many sessions ended. */
export const signOutElsewhere = async (
  tx: Pick<Db, 'query'>,
  personId: string,
  keptSession: Buffer | null,
): Promise<number> => {
  const { rowCount } = await deleteOtherSessions(tx, personId, keptSession);
  await deleteOtherDevices(tx, personId, keptSession);
  return rowCount;
};

const deleteOtherSessions = (tx: Pick<Db, 'query'>, personId: string, keptHash: Buffer | null) => {
  const but = keptHash ? sql.fragment`and session_hash <> ${sql.binary(keptHash)}` : sql.fragment``;
  return tx.query(sql.unsafe`delete from admin.sessions where person_id = ${personId} ${but}`);
};
