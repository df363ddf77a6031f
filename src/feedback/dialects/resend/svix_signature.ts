import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Proof, SignatureCheck, SignedPost } from '../dialect.ts';
import { readSignedAt, STANDARD_MINUTES } from '../freshness.ts';

const SECRET = /^whsec_([A-Za-z0-9+/]{16,128}={0,2})$/;
const ID_CHARS_MAX = 128;
/** How many signatures one post may bring: one for each key while keys change. */
const SIGNATURES_MAX = 10;
const DIGEST_BYTES = 32;

/** Svix has headers of its own; Standard Webhooks has the same under neutral names. */
const headerOf = ({ headers }: SignedPost, name: 'id' | 'timestamp' | 'signature'): string => {
  const value = headers[`svix-${name}`] ?? headers[`webhook-${name}`];
  return typeof value === 'string' ? value : '';
};

/** Whether one of the signatures is the expected one: `v1,<base64>`, separated by blanks. */
const hasExpected = (signatures: string, expected: Buffer): boolean =>
  signatures
    .split(' ', SIGNATURES_MAX)
    .filter((one) => one.startsWith('v1,'))
    .map((one) => Buffer.from(one.slice(3), 'base64'))
    .some((given) => given.length === DIGEST_BYTES && timingSafeEqual(given, expected));

/** HMAC-SHA256 over id, time and raw body (Standard Webhooks, "Signature scheme"). */
const verify = (post: SignedPost, key: string): Proof | null => {
  const [, secret] = SECRET.exec(key) ?? [];
  const [id, timestamp] = [headerOf(post, 'id'), headerOf(post, 'timestamp')];
  const signedAt = readSignedAt(timestamp);
  if (secret === undefined || id === '' || id.length > ID_CHARS_MAX || signedAt === null)
    return null;
  const expected = createHmac('sha256', Buffer.from(secret, 'base64'))
    .update(`${id}.${timestamp}.`)
    .update(post.raw)
    .digest();
  return hasExpected(headerOf(post, 'signature'), expected) ? { postId: id, signedAt } : null;
};

/** Svix signs for Resend, each try anew: the id stays, the time does not. */
export const svixSignature: SignatureCheck = {
  kind: 'signature',
  isRequired: false,
  keyName: 'Signing secret',
  minutesMax: STANDARD_MINUTES,
  findKeyFault: (key) =>
    SECRET.test(key) ? null : 'the signing secret of the webhook: "whsec_" and base64',
  hasSignature: (post) => headerOf(post, 'signature') !== '',
  verify,
};
