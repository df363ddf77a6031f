import { Refusal } from '../base/refusal.ts';
import type { QuotaName } from './schema.ts';

const COUNTED: Record<QuotaName, string> = {
  new_profiles: 'new profiles',
  stored_bytes: 'stored bytes',
};

type Exceeded = { amount: number; retryAfterSeconds: number };

const refuse = (name: QuotaName, detail: string, retryAfterSeconds: number): Refusal =>
  new Refusal('quota_exceeded', {
    detail: `${detail} Send the request again after Retry-After seconds.`,
    retryAfterSeconds: Math.max(1, Math.ceil(retryAfterSeconds)),
    members: { reason: name },
  });

/** Returns the refusal of a request that the quota of its key has no room for. */
export const keyExceeded = (name: QuotaName, { amount, retryAfterSeconds }: Exceeded): Refusal =>
  refuse(
    name,
    `The daily quota of ${amount} ${COUNTED[name]} of this publishable key is used up. ` +
      'The next day begins at midnight UTC.',
    retryAfterSeconds,
  );

/** Returns the refusal of a request that goes past the share of its address. */
export const addressExceeded = (
  name: QuotaName,
  { amount, retryAfterSeconds }: Exceeded,
): Refusal =>
  refuse(
    name,
    `Your address has used its share of the daily quota of this publishable key. ` +
      `The share is ${amount} ${COUNTED[name]} in 24 hours.`,
    retryAfterSeconds,
  );
