import { createHash } from 'node:crypto';
import type { Keys } from '../base/keys.ts';
import type { EmailService } from './email_service.ts';
import { isSameSecret } from '../base/same_secret.ts';

/** Whose test email it is, to which address, and which service carries it. */
export type TestEmail = { projectId: string; to: string; service: EmailService };

const ID_BYTES = 16;
const NONCE_BYTES = 6;
/** Version 8 and the variant of RFC 9562 §4.1 and §5.8, in the bytes that carry them. */
const VERSION = { at: 6, mask: 0x0f, bits: 0x80 };
const VARIANT = { at: 8, mask: 0x3f, bits: 0x80 };

const toUuid = (bytes: Buffer): string =>
  bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');

const idOf = (keys: Keys, { projectId, to, service }: TestEmail, nonce: Buffer): string => {
  const about = [nonce.toString('hex'), projectId, service, to.trim().toLowerCase()].join(' ');
  const proof = keys.hash('test-email', about).subarray(0, ID_BYTES - NONCE_BYTES);
  const bytes = Buffer.concat([nonce, proof]);
  for (const { at, mask, bits } of [VERSION, VARIANT]) bytes[at] = ((bytes[at] ?? 0) & mask) | bits;
  return toUuid(bytes);
};

/**
 * Returns the send id of a test email: a UUID of version 8 (RFC 9562 §5.8) with 74 bits of a keyed digest over the
 * project, the recipient and the service. So feedback about a test proves that this project sent it, without a row.
 * The same `testId` gives the same id.
 */
export const testEmailId = (keys: Keys, email: TestEmail, testId: string): string =>
  idOf(keys, email, createHash('sha256').update(testId).digest().subarray(0, NONCE_BYTES));

/** Whether a send id is the one of a test email that this project sent to this address through this service. */
export const isTestEmail = (keys: Keys, email: TestEmail, sendId: string): boolean => {
  const nonce = Buffer.from(sendId.replaceAll('-', '').slice(0, 2 * NONCE_BYTES), 'hex');
  return isSameSecret(idOf(keys, email, nonce), sendId.toLowerCase());
};
