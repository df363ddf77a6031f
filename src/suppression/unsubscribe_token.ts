import { createCipheriv, createDecipheriv, createHmac, timingSafeEqual } from 'node:crypto';
import type { Keys } from '../base/keys.ts';

/** The meaning of an unsubscribe link: the project, the address that leaves, and the email that carried the link. */
export type UnsubscribeLink = { projectId: string; addressKey: Buffer; sendId: string };

const ID_BYTES = 16;
const KEY_BYTES = 32;
const LINK_BYTES = 1 + ID_BYTES + KEY_BYTES + ID_BYTES;

const CIPHER = 'aes-256-ctr';
const VERSION = 2;
/** The synthetic IV, which is also the MAC: one AES block. */
const IV_BYTES = 16;
/** 81 bytes are 108 characters of base64url with no unused bits. */
const TOKEN_BYTES = IV_BYTES + LINK_BYTES;

const SIGNED_VERSION = 1;
const SIGNED_MAC_BYTES = 32;
const SIGNED_TOKEN_BYTES = LINK_BYTES + SIGNED_MAC_BYTES;

/**
 * Returns the token of a link: encrypted, so that a recipient reads no id in it and cannot tell which tokens belong to
 * one project. It never expires and needs no row: it outlives the profile, the send and an erase.
 *
 * The encryption is deterministic (a synthetic IV, as in RFC 5297): the IV is the MAC of the plaintext under a key of
 * its own. So a link always has the same token, and no two links share an IV.
 */
export const makeUnsubscribeToken = (keys: Keys, link: UnsubscribeLink): string => {
  const plain = toBytes(VERSION, link);
  const iv = ivOf(keys, plain);
  const cipher = createCipheriv(CIPHER, keys.of('unsubscribe-token'), iv);
  return Buffer.concat([iv, cipher.update(plain), cipher.final()]).toString('base64url');
};

/**
 * Returns the meaning of a token that we made, or null for every other text. Each token has one spelling: Node decodes
 * base64url leniently, so padding, other alphabets and unused bits are refused here.
 */
export const readUnsubscribeToken = (keys: Keys, token: string): UnsubscribeLink | null => {
  const bytes = Buffer.from(token, 'base64url');
  if (bytes.toString('base64url') !== token) return null;
  if (bytes.length === TOKEN_BYTES) return readEncrypted(keys, bytes);
  return bytes.length === SIGNED_TOKEN_BYTES ? readSigned(keys, bytes) : null;
};

const readEncrypted = (keys: Keys, bytes: Buffer): UnsubscribeLink | null => {
  const iv = bytes.subarray(0, IV_BYTES);
  const decipher = createDecipheriv(CIPHER, keys.of('unsubscribe-token'), iv);
  const plain = Buffer.concat([decipher.update(bytes.subarray(IV_BYTES)), decipher.final()]);
  return timingSafeEqual(ivOf(keys, plain), iv) ? toLink(VERSION, plain) : null;
};

/** The form of emails that were sent before tokens were encrypted: a readable link and its MAC. */
const readSigned = (keys: Keys, bytes: Buffer): UnsubscribeLink | null => {
  const plain = bytes.subarray(0, LINK_BYTES);
  const mac = createHmac('sha256', keys.of('unsubscribe-link')).update(plain).digest();
  return timingSafeEqual(mac, bytes.subarray(LINK_BYTES)) ? toLink(SIGNED_VERSION, plain) : null;
};

const ivOf = (keys: Keys, plain: Buffer): Buffer =>
  createHmac('sha256', keys.of('unsubscribe-token-iv'))
    .update(plain)
    .digest()
    .subarray(0, IV_BYTES);

const toBytes = (version: number, { projectId, addressKey, sendId }: UnsubscribeLink): Buffer =>
  Buffer.concat([Buffer.from([version]), idToBytes(projectId), addressKey, idToBytes(sendId)]);

const toLink = (version: number, plain: Buffer): UnsubscribeLink | null =>
  plain[0] === version
    ? {
        projectId: bytesToId(plain.subarray(1, 1 + ID_BYTES)),
        addressKey: plain.subarray(1 + ID_BYTES, 1 + ID_BYTES + KEY_BYTES),
        sendId: bytesToId(plain.subarray(1 + ID_BYTES + KEY_BYTES)),
      }
    : null;

const idToBytes = (id: string): Buffer => Buffer.from(id.replaceAll('-', ''), 'hex');
const bytesToId = (bytes: Buffer): string =>
  bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
