import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import type { Deps } from '../base/deps.ts';
import { Refusal } from '../base/refusal.ts';

const HOUR_SECONDS = 3_600;
const MS_PER_SECOND = 1_000;

/** How often an hour a project may ask for something, in each process, and the sentence that says so. */
type HourlyLimit = { most: number; says: string };

/** Returns a count for each project. It throws `rate_limited` past the limit. */
export const makeHourlyCount = ({ most, says }: HourlyLimit) => {
  const makeCounters = () => new RateLimiterMemory({ points: most, duration: HOUR_SECONDS });
  return async ({ resources }: Pick<Deps, 'resources'>, projectId: string): Promise<void> => {
    try {
      await resources.of(makeCounters, undefined).consume(projectId);
    } catch (refused) {
      if (!(refused instanceof RateLimiterRes)) throw refused;
      const retryAfterSeconds = Math.max(1, Math.ceil(refused.msBeforeNext / MS_PER_SECOND));
      throw new Refusal('rate_limited', { detail: says, retryAfterSeconds });
    }
  };
};
