import { randomBytes } from 'node:crypto';
import type { Deps } from '../base/deps.ts';
import type { Person } from '../base/procedure.ts';
import { tokenLookupsOf } from '../base/token_lookups.ts';
import {
  deleteExpired,
  deleteSession,
  findSignedIn,
  insertSession,
  seeSession,
} from './queries.ts';

export const SESSION_DAYS = 14;
/** Reading is not worth a write each time. */
export const LAST_SEEN_SECONDS = 60;
const TOKEN_BYTES = 32;
const TOKEN_SHAPE = /^[\w-]{43}$/;

type SessionDeps = Pick<Deps, 'db' | 'keys'>;

export const sessionHashOf = ({ keys }: Pick<Deps, 'keys'>, token: string): Buffer =>
  keys.hash('session', token);

/** Opens a session and answers its token, which is kept nowhere but in the cookie. */
export const openSession = async (deps: SessionDeps, personId: string): Promise<string> => {
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  await deleteExpired(deps.db);
  await insertSession(deps.db, {
    sessionHash: sessionHashOf(deps, token),
    personId,
    livesForDays: SESSION_DAYS,
  });
  return token;
};

/**
 * Finds the person behind a token, or null: unknown, ended, expired, malformed and foreign tokens are alike. An
 * address that sends too many unknown ones is refused before the database is asked.
 */
export const findPerson = async (
  deps: SessionDeps & Parameters<typeof tokenLookupsOf>[0],
  token: string | null,
  address: string,
): Promise<Person | null> => {
  if (token === null || !TOKEN_SHAPE.test(token)) return null;
  const sessionHash = sessionHashOf(deps, token);
  const digest = `session ${sessionHash.toString('base64')}`;
  const row = await tokenLookupsOf(deps).find({ digest, address }, () =>
    findSignedIn(deps.db, sessionHash, LAST_SEEN_SECONDS),
  );
  if (!row) return null;
  const { is_last_seen_old, ...person } = row;
  if (is_last_seen_old) await seeSession(deps.db, sessionHash);
  return person;
};

/** Ends a session for good, whoever still holds its token. */
export const closeSession = async (deps: SessionDeps, token: string): Promise<void> => {
  await deleteSession(deps.db, sessionHashOf(deps, token));
};
