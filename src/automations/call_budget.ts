import type { Scope } from '../base/db.ts';
import { consume } from '../base/rate_limits.ts';
import type { RateLimit } from '../base/rate_limits.ts';
import { BROWSER_CALLS_PER_HOUR_MAX } from './call_limits.ts';
import type { Claimed } from './call_queries.ts';

const HOUR_SECONDS = 3_600;
const LIMIT: RateLimit = {
  name: 'browser_calls',
  max: BROWSER_CALLS_PER_HOUR_MAX,
  windowSeconds: HOUR_SECONDS,
};

/** Calls that wait for the next hour are tried again within so many seconds of it, and not all at its beginning. */
const SPREAD_SECONDS = 1_800;

/**
 * Charges an attempt of a browser-triggered run to the hourly limit of its endpoint. Returns the seconds that it has to
 * wait, or null where it may go. It is the last statement of its transaction: all calls of an endpoint lock the same
 * counter.
 */
export const chargeCall = async (
  { tx }: Pick<Scope, 'tx'>,
  endpointId: string,
  { is_of_page: isOfPage }: Pick<Claimed, 'is_of_page'>,
): Promise<number | null> => {
  if (!isOfPage) return null;
  const { exceeded } = await consume(tx, [{ limit: LIMIT, key: endpointId }]);
  return exceeded === null
    ? null
    : exceeded.retryAfterSeconds + Math.ceil(Math.random() * SPREAD_SECONDS);
};
