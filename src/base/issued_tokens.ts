import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Keys } from './keys.ts';

/** What a token is for. A token of one kind counts as none of another. */
export type IssuedKind = 'session' | 'device' | 'invitation';

const SECRET_BYTES = 16;
/** RFC 2104 §5 asks for at least half of the hash. */
const TAG_BYTES = 16;
const SHAPE = /^[\w-]{43}$/;

const tagOf = (keys: Keys, secret: Buffer, of: string): Buffer =>
  keys.hash('token-tag', `${secret.toString('base64url')} ${of}`).subarray(0, TAG_BYTES);

/**
 * Makes a token: 128 random bits and a tag of 128 bits, in 43 characters of base64url. The tag is a keyed MAC, so only
 * this service makes one. `holder` binds it to an account.
 */
export const issueToken = (keys: Keys, kind: IssuedKind, holder = ''): string => {
  const secret = randomBytes(SECRET_BYTES);
  return Buffer.concat([secret, tagOf(keys, secret, `${kind} ${holder}`)]).toString('base64url');
};

/** Returns whether this service made a token of this kind for this holder. A made-up one costs no statement. */
export const isIssued = (keys: Keys, kind: IssuedKind, token: string, holder = ''): boolean => {
  if (!SHAPE.test(token)) return false;
  const bytes = Buffer.from(token, 'base64url');
  // The last character has two unused bits: a token has one spelling.
  if (bytes.toString('base64url') !== token) return false;
  const [secret, tag] = [bytes.subarray(0, SECRET_BYTES), bytes.subarray(SECRET_BYTES)];
  return timingSafeEqual(tag, tagOf(keys, secret, `${kind} ${holder}`));
};
