import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Keys } from '../base/keys.ts';

/** What an unsubscribe link says: whose mail to leave, which address leaves, and over which message. */
export type UnsubscribeLink = { projectId: string; addressKey: Buffer; sendId: string };

const VERSION = 1;
const ID_BYTES = 16;
const KEY_BYTES = 32;
const MAC_BYTES = 32;
const SAID_BYTES = 1 + ID_BYTES + KEY_BYTES + ID_BYTES;
/** Base64url without padding: four characters for three bytes. */
const TOKEN = new RegExp(`^[\\w-]{${Math.ceil(((SAID_BYTES + MAC_BYTES) * 4) / 3)}}$`);

const idToBytes = (id: string): Buffer => Buffer.from(id.replaceAll('-', ''), 'hex');
const bytesToId = (bytes: Buffer): string =>
  bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');

/** The key is of this purpose alone, so that no other MAC of ours is a token. */
const macOf = (keys: Keys, said: Buffer): Buffer =>
  createHmac('sha256', keys.of('unsubscribe-link')).update(said).digest();

/** The token of a link. It never runs out, and needs no row: it outlives profile, send and erase. */
export const makeUnsubscribeToken = (
  keys: Keys,
  { projectId, addressKey, sendId }: UnsubscribeLink,
): string => {
  const said = Buffer.concat([
    Buffer.from([VERSION]),
    idToBytes(projectId),
    addressKey,
    idToBytes(sendId),
  ]);
  return Buffer.concat([said, macOf(keys, said)]).toString('base64url');
};

/** What a token says, if we made it; null for every other text. */
export const readUnsubscribeToken = (keys: Keys, token: string): UnsubscribeLink | null => {
  if (!TOKEN.test(token)) return null;
  const bytes = Buffer.from(token, 'base64url');
  const said = bytes.subarray(0, SAID_BYTES);
  if (!timingSafeEqual(macOf(keys, said), bytes.subarray(SAID_BYTES))) return null;
  if (said[0] !== VERSION) return null;
  return {
    projectId: bytesToId(said.subarray(1, 1 + ID_BYTES)),
    addressKey: said.subarray(1 + ID_BYTES, 1 + ID_BYTES + KEY_BYTES),
    sendId: bytesToId(said.subarray(1 + ID_BYTES + KEY_BYTES)),
  };
};
