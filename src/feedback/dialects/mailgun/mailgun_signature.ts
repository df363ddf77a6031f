import { createHmac, timingSafeEqual } from 'node:crypto';
import { parseJson } from '../../../base/json.ts';
import type { Proof, SignatureCheck, SignedPost } from '../dialect.ts';
import { HOURS_24_MINUTES, readSignedAt } from '../freshness.ts';
import { readObject, readText } from '../reading.ts';
import type { Fields } from '../reading.ts';

/** How old a signature may be, in hours. Mailgun retries for eight hours, and may not sign anew. */
export const SIGNATURE_HOURS_MAX = HOURS_24_MINUTES / 60;
const TOKEN_CHARS_MAX = 100;

/** Returns what one of Mailgun's signatures proves; null where it was not made with the key. */
const proofOf = (key: string, fields: Fields): Proof | null => {
  const signature = readText(fields['signature'], TOKEN_CHARS_MAX) ?? '';
  const timestamp = readText(fields['timestamp']) ?? '';
  const postId = readText(fields['token'], TOKEN_CHARS_MAX);
  const signedAt = readSignedAt(timestamp);
  if (!/^[0-9a-f]{64}$/i.test(signature) || postId === null || signedAt === null) return null;
  const expected = createHmac('sha256', key).update(`${timestamp}${postId}`).digest();
  return timingSafeEqual(expected, Buffer.from(signature, 'hex')) ? { postId, signedAt } : null;
};

/**
 * Returns what the signature of a body proves, by the account itself or by its parent's. The
 * signature covers a time and a token, not the event: the receiver of the body has to remember the
 * token.
 */
export const checkSignature = (body: unknown, key: string): Proof | null =>
  proofOf(key, readObject(readObject(body)['signature'])) ??
  proofOf(key, readObject(readObject(body)['parent-signature']));

const hasSignature = ({ raw }: SignedPost): boolean =>
  Object.keys(readObject(readObject(parseJson(raw))['signature'])).length > 0;

/** Mailgun signs every post, in its body, with one key for the account. */
export const mailgunSignature: SignatureCheck = {
  kind: 'signature',
  isRequired: true,
  keyName: 'HTTP webhook signing key',
  minutesMax: HOURS_24_MINUTES,
  findKeyFault: () => null,
  hasSignature,
  verify: ({ raw }, key) => checkSignature(parseJson(raw), key),
};
