import type { Deps } from '../base/deps.ts';
import { normaliseEmail } from '../base/email_address.ts';
import { toOrigin } from '../base/origin.ts';
import { consume, describeWait, limitsWithin, slotOf } from '../base/rate_limits.ts';
import { Refusal } from '../base/refusal.ts';
import { inTurnOfAttempts } from './sign_in_turns.ts';

/** Requests for access that one origin, and one email address, may make within the window. */
export const REQUESTS_PER_ORIGIN_MAX = 10;
export const REQUESTS_PER_EMAIL_MAX = 3;
export const REQUEST_WINDOW_SECONDS = 60 * 60;

const limit = limitsWithin(REQUEST_WINDOW_SECONDS);
const PER_ORIGIN = limit('access_requests_per_origin', REQUESTS_PER_ORIGIN_MAX);
const PER_EMAIL = limit('access_requests_per_email', REQUESTS_PER_EMAIL_MAX);

/** Counts a request for access, or refuses it past the limits. They are the same for known and unknown addresses. */
export const countAccessRequest = async (
  { db, keys, resources }: Pick<Deps, 'db' | 'keys' | 'resources'>,
  { email, address }: { email: string; address: string },
): Promise<void> => {
  const origin = toOrigin(address);
  const charges = [
    { limit: PER_ORIGIN, key: slotOf(keys, origin) },
    { limit: PER_EMAIL, key: slotOf(keys, normaliseEmail(email)) },
  ];
  const turn = { line: origin, isKnown: false };
  const { exceeded } = await inTurnOfAttempts({ resources }, turn, () => consume(db, charges));
  if (!exceeded) return;
  const { retryAfterSeconds } = exceeded;
  throw new Refusal('rate_limited', {
    detail: `You asked several times, and your request is kept. Ask again in ${describeWait(retryAfterSeconds)}.`,
    retryAfterSeconds,
  });
};
