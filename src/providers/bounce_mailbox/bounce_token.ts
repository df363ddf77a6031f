import { createCipheriv, createDecipheriv, createHmac, timingSafeEqual } from 'node:crypto';
import type { Keys } from '../../base/keys.ts';
import { fromBase32, toBase32 } from './base32.ts';

/** Whose bounces a token is for. A token of another provider or project is none. */
export type TokenOwner = { projectId: string; providerId: string };

const CIPHER = 'aes-256-ctr';
const BLOCK_BYTES = 16;
const ID_BYTES = 16;
/** The synthetic IV is also the MAC: 96 bits, which is what the local part of an address has room for. */
const IV_BYTES = 12;
const TOKEN_BYTES = IV_BYTES + ID_BYTES;
/** 28 bytes in base32. */
export const BOUNCE_TOKEN_CHARS = 45;

/**
 * Returns the token in the envelope sender of an email. It is encrypted, so a recipient reads no id in it, and bound to
 * the provider and its project. It is in lower case and base32: servers change the case of local parts.
 *
 * The encryption is deterministic (a synthetic IV, as in RFC 5297), so a send always has the same token.
 */
export const makeBounceToken = (keys: Keys, owner: TokenOwner, sendId: string): string => {
  const plain = Buffer.from(sendId.replaceAll('-', ''), 'hex');
  const iv = ivOf(keys, owner, plain);
  const cipher = createCipheriv(CIPHER, keys.of('bounce-token'), toBlock(iv));
  return toBase32(Buffer.concat([iv, cipher.update(plain), cipher.final()]));
};

/** Returns the send id of a token that Trunkline made for this provider, in either case; null for every other text. */
export const readBounceToken = (keys: Keys, owner: TokenOwner, token: string): string | null => {
  if (token.length !== BOUNCE_TOKEN_CHARS) return null;
  const bytes = fromBase32(token.toLowerCase());
  if (bytes?.length !== TOKEN_BYTES) return null;
  const iv = bytes.subarray(0, IV_BYTES);
  const decipher = createDecipheriv(CIPHER, keys.of('bounce-token'), toBlock(iv));
  const plain = Buffer.concat([decipher.update(bytes.subarray(IV_BYTES)), decipher.final()]);
  return timingSafeEqual(ivOf(keys, owner, plain), iv) ? toUuid(plain) : null;
};

const ivOf = (keys: Keys, { projectId, providerId }: TokenOwner, sendId: Buffer): Buffer =>
  createHmac('sha256', keys.of('bounce-token-iv'))
    .update(`${projectId} ${providerId} `)
    .update(sendId)
    .digest()
    .subarray(0, IV_BYTES);

const toBlock = (iv: Buffer): Buffer => Buffer.concat([iv, Buffer.alloc(BLOCK_BYTES - IV_BYTES)]);

const toUuid = (bytes: Buffer): string =>
  bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
