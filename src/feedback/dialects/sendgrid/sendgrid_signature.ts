import { createHash, createPublicKey, createVerify } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { HOURS_24_MINUTES, readSignedAt } from '../freshness.ts';
import type { Proof, SignatureCheck, SignedPost } from '../dialect.ts';

const SIGNATURE = 'x-twilio-email-event-webhook-signature';
const TIMESTAMP = 'x-twilio-email-event-webhook-timestamp';
const SIGNATURE_CHARS_MAX = 200;
const CURVE = 'prime256v1';

const headerOf = ({ headers }: SignedPost, name: string): string => {
  const value = headers[name];
  return typeof value === 'string' ? value : '';
};

/** Returns a public key as SendGrid shows it: base64 of its DER form. Null for any other text. */
const toPublicKey = (text: string): KeyObject | null => {
  try {
    const key = createPublicKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'spki' });
    return key.asymmetricKeyDetails?.namedCurve === CURVE ? key : null;
  } catch {
    return null;
  }
};

/** The signature covers the time and the raw body (SendGrid, "Signed Event Webhook"). */
const verify = (post: SignedPost, key: string): Proof | null => {
  const [signature, timestamp] = [headerOf(post, SIGNATURE), headerOf(post, TIMESTAMP)];
  const publicKey = toPublicKey(key);
  const signedAt = readSignedAt(timestamp);
  if (publicKey === null || signature.length > SIGNATURE_CHARS_MAX) return null;
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(signature) || signedAt === null) return null;
  const verifier = createVerify('sha256').update(timestamp).update(post.raw);
  if (!verifier.verify({ key: publicKey, dsaEncoding: 'der' }, signature, 'base64')) return null;
  // Of what is signed, not of the signature: for each there is a second one that is as good.
  const postId = createHash('sha256').update(timestamp).update('.').update(post.raw);
  return { postId: postId.digest('base64url'), signedAt };
};

/** SendGrid signs on request, with a key pair for each webhook. It retries for 24 hours. */
export const sendgridSignature: SignatureCheck = {
  kind: 'signature',
  isRequired: false,
  keyName: 'Verification key',
  minutesMax: HOURS_24_MINUTES,
  findKeyFault: (key) =>
    toPublicKey(key) === null
      ? 'the verification key of a Signed Event Webhook: a P-256 public key in base64'
      : null,
  hasSignature: (post) => headerOf(post, SIGNATURE) !== '',
  verify,
};
