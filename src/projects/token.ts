import { randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { KEY_KINDS } from '../base/caller.ts';
import type { KeyKind } from '../base/caller.ts';
import type { Keys } from '../base/keys.ts';
import { isSameSecret } from '../base/same_secret.ts';

const PREFIXES = {
  publishable: 'svc_pub_live_',
  server: 'svc_secret_live_',
  hook: 'svc_hook_live_',
} as const satisfies Record<KeyKind, string>;

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 22 × log2(62) = 131 random bits. Tokens from before tags had five more of them. */
const RANDOM_CHARS = 22;
/** 62^5: of a billion made-up tokens one has the right tag, which saves it from being counted and opens nothing. */
const TAG_CHARS = 5;
const SECRET_CHARS = RANDOM_CHARS + TAG_CHARS;
/** 62^6 > 2^32: a CRC-32 always fits. */
const CHECKSUM_CHARS = 6;
/** Where the tag begins, counted from the end. */
const TAG_AT = -(TAG_CHARS + CHECKSUM_CHARS);
const SHAPE = new RegExp(
  `^(svc_(?:pub|secret|hook)_live_)([0-9A-Za-z]{${SECRET_CHARS}})([0-9A-Za-z]{${CHECKSUM_CHARS}})$`,
);

/** Returns the last digits of a number in base62. */
const toBase62 = (number: number, length: number): string => {
  let rest = number;
  let digits = '';
  for (let at = 0; at < length; at += 1) {
    digits = BASE62.charAt(rest % BASE62.length) + digits;
    rest = Math.floor(rest / BASE62.length);
  }
  return digits;
};

const checksum = (text: string): string => toBase62(crc32(text), CHECKSUM_CHARS);
const tagOf = (keys: Keys, text: string): string =>
  toBase62(keys.hash('api-key-tag', text).readUIntBE(0, 6), TAG_CHARS);

/**
 * Makes a token: a typed prefix, 131 random bits in base62, a tag that only this service makes, and a checksum of them
 * all. Shown once.
 */
export const makeToken = (kind: KeyKind, keys: Keys): string => {
  const random = Array.from({ length: RANDOM_CHARS }, () =>
    BASE62.charAt(randomInt(BASE62.length)),
  ).join('');
  const text = PREFIXES[kind] + random;
  const tagged = text + tagOf(keys, text);
  return tagged + checksum(tagged);
};

/** Returns whether the tag of a well-formed token shows that this service made it. Needs no database. */
export const isIssuedToken = (keys: Keys, token: string): boolean => {
  const [text, tag] = [token.slice(0, TAG_AT), token.slice(TAG_AT, -CHECKSUM_CHARS)];
  return isSameSecret(tagOf(keys, text), tag);
};

/** The kind of a well-formed token, or null. Needs no database, so typing errors cost nothing. */
export const readTokenKind = (token: string): KeyKind | null => {
  const [, prefix, secret, sum] = SHAPE.exec(token) ?? [];
  if (prefix === undefined || checksum(`${prefix}${secret}`) !== sum) return null;
  return KEY_KINDS.find((kind) => PREFIXES[kind] === prefix) ?? null;
};
