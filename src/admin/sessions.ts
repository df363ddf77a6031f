import type { Deps } from '../base/deps.ts';
import { isIssued, issueToken } from '../base/issued_tokens.ts';
import type { Person } from '../base/procedure.ts';
import { tokenLookupsOf } from '../base/token_lookups.ts';
import {
  deleteExpired,
  deleteSession,
  findSignedIn,
  insertSession,
  seeSession,
} from './session_queries.ts';
import { isSameSecret } from '../base/same_secret.ts';

// A session has two halves: the token in the cookie, and a proof that the page keeps in its storage and sends as a
// header. Cookies do not know ports (RFC 6265 §8.5), storage does: a server at another port receives the token alone.

export const SESSION_DAYS = 14;
/** Reading is not worth a write each time. */
export const LAST_SEEN_SECONDS = 60;

type SessionDeps = Pick<Deps, 'db' | 'keys'>;

export const sessionHashOf = ({ keys }: Pick<Deps, 'keys'>, token: string): Buffer =>
  keys.hash('session', token);

/** Returns the proof of a session: a keyed MAC of its token, in 43 characters of base64url. */
const proofOf = ({ keys }: Pick<Deps, 'keys'>, token: string): string =>
  keys.hash('session-proof', token).toString('base64url');

export type OpenedSession = { token: string; proof: string };

/** Opens a session and returns both of its halves, which are stored nowhere. */
export const openSession = async (
  deps: SessionDeps,
  personId: string,
  deviceId: string | null = null,
): Promise<OpenedSession> => {
  const token = issueToken(deps.keys, 'session');
  await deleteExpired(deps.db);
  await insertSession(deps.db, {
    sessionHash: sessionHashOf(deps, token),
    personId,
    deviceId,
    livesForDays: SESSION_DAYS,
  });
  return { token, proof: proofOf(deps, token) };
};

const isProven = (deps: Pick<Deps, 'keys'>, token: string, proof: string): boolean =>
  isSameSecret(proofOf(deps, token), proof);

/** Returns the token of a session whose two halves belong together; null without the proof and for a made-up token. */
export const readSession = (
  deps: Pick<Deps, 'keys'>,
  { token, proof }: { token: string | null; proof: string },
): string | null =>
  token !== null && isIssued(deps.keys, 'session', token) && isProven(deps, token, proof)
    ? token
    : null;

/** Finds the person behind the token of a session, or null where it has ended or expired. */
export const findPerson = async (
  deps: SessionDeps & Parameters<typeof tokenLookupsOf>[0],
  token: string | null,
  address: string,
): Promise<Person | null> => {
  if (token === null) return null;
  const sessionHash = sessionHashOf(deps, token);
  const lookup = { digest: sessionHash.toString('base64'), address, isIssued: true };
  const row = await tokenLookupsOf(deps).find({ kind: 'session', ...lookup }, () =>
    findSignedIn(deps.db, sessionHash, LAST_SEEN_SECONDS),
  );
  if (!row) return null;
  const { is_last_seen_old, ...person } = row;
  if (is_last_seen_old) await seeSession(deps.db, sessionHash);
  return person;
};

/** Ends a session for good, for every holder of its token. */
export const closeSession = async (deps: SessionDeps, token: string): Promise<void> => {
  await deleteSession(deps.db, sessionHashOf(deps, token));
};
