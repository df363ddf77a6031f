import { createHmac, timingSafeEqual } from 'node:crypto';
import { parseJson } from '../../../base/json.ts';
import type { SignatureCheck, Signed, SignedPost } from '../dialect.ts';
import { ageOf, HOURS_24_MINUTES } from '../freshness.ts';
import { readObject, readText } from '../reading.ts';
import type { Fields } from '../reading.ts';

/** How old a signature may be, in hours. Mailgun retries for eight hours, and may not sign anew. */
export const SIGNATURE_HOURS_MAX = HOURS_24_MINUTES / 60;
const TOKEN_CHARS_MAX = 100;

/** Whether one of Mailgun's signatures was made with the key. */
const isSigned = (key: string, fields: Fields): boolean => {
  const signature = readText(fields['signature'], TOKEN_CHARS_MAX) ?? '';
  const [timestamp, token] = [readText(fields['timestamp']) ?? '', readText(fields['token']) ?? ''];
  if (!/^[0-9a-f]{64}$/i.test(signature)) return false;
  if (!/^\d{1,12}$/.test(timestamp) || token === '' || token.length > TOKEN_CHARS_MAX) return false;
  const expected = createHmac('sha256', key).update(`${timestamp}${token}`).digest();
  return timingSafeEqual(expected, Buffer.from(signature, 'hex'));
};

/**
 * Returns whether a body is signed with the key, by the account itself or by its parent's. The
 * signature covers a time and a token, not the event: the receiver of the body has to remember the
 * token.
 */
export const checkSignature = (body: unknown, key: string, now: Date): Signed => {
  const both = [
    readObject(readObject(body)['signature']),
    readObject(readObject(body)['parent-signature']),
  ];
  const proven = both.find((fields) => isSigned(key, fields));
  if (!proven) return { kind: 'wrong' };
  if (ageOf(String(proven['timestamp']), now, HOURS_24_MINUTES) === 'stale')
    return { kind: 'stale' };
  return { kind: 'proven', postId: String(proven['token']) };
};

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
  verify: ({ raw, receivedAt }, key) => checkSignature(parseJson(raw), key, receivedAt),
};
