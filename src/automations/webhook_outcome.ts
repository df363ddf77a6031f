import * as delivery from '../delivery/delivery.ts';
import type { WebhookAnswer } from './post_webhook.ts';

const SECOND_MS = 1_000;

/** What an attempt at a webhook leads to: `retryAt` is when it is tried again, null where it is not. */
export type WebhookOutcome = {
  status: 'waiting' | 'delivered' | 'failed';
  retryAt: Date | null;
  httpStatus: number | null;
  reason: string | null;
};

type Attempted = { attempts: number; expires_at: Date; isTest: boolean };

/**
 * Returns what the answer to an attempt leads to: a retry until it expires, where time may help. A test is posted once:
 * its sender waits for the outcome.
 */
export const outcomeOf = (
  answer: WebhookAnswer,
  { attempts, expires_at: expiresAt, isTest }: Attempted,
  now: Date,
): WebhookOutcome => {
  const { httpStatus } = answer;
  if (answer.kind === 'delivered')
    return { status: 'delivered', retryAt: null, httpStatus, reason: null };
  const { reason } = answer;
  const failed = { status: 'failed', retryAt: null, httpStatus, reason } as const;
  if (answer.kind === 'refused' || isTest) return failed;
  const seconds = delivery.retryAfterSeconds(attempts, Math.random(), answer.hintSeconds);
  const retryAt = new Date(now.getTime() + Math.max(1, seconds) * SECOND_MS);
  return retryAt > expiresAt ? failed : { ...failed, status: 'waiting', retryAt };
};
