import { randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { KEY_KINDS } from '../base/caller.ts';
import type { KeyKind } from '../base/caller.ts';

const PREFIXES = {
  publishable: 'svc_pub_live_',
  server: 'svc_secret_live_',
  hook: 'svc_hook_live_',
} as const satisfies Record<KeyKind, string>;

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 27 × log2(62) = 160.7 random bits. */
const SECRET_CHARS = 27;
/** 62^6 > 2^32: a CRC-32 always fits. */
const CHECKSUM_CHARS = 6;
const SHAPE = new RegExp(
  `^(svc_(?:pub|secret|hook)_live_)([0-9A-Za-z]{${SECRET_CHARS}})([0-9A-Za-z]{${CHECKSUM_CHARS}})$`,
);

const checksum = (text: string): string => {
  let rest = crc32(text);
  let digits = '';
  for (let at = 0; at < CHECKSUM_CHARS; at += 1) {
    digits = BASE62.charAt(rest % BASE62.length) + digits;
    rest = Math.floor(rest / BASE62.length);
  }
  return digits;
};

/** A new token: typed prefix, 160 random bits in base62, and a checksum of both. Shown once. */
export const makeToken = (kind: KeyKind): string => {
  const secret = Array.from({ length: SECRET_CHARS }, () =>
    BASE62.charAt(randomInt(BASE62.length)),
  ).join('');
  const text = PREFIXES[kind] + secret;
  return text + checksum(text);
};

/** The kind of a well-formed token, or null. Needs no database, so typing errors cost nothing. */
export const readTokenKind = (token: string): KeyKind | null => {
  const [, prefix, secret, sum] = SHAPE.exec(token) ?? [];
  if (prefix === undefined || checksum(`${prefix}${secret}`) !== sum) return null;
  return KEY_KINDS.find((kind) => PREFIXES[kind] === prefix) ?? null;
};
