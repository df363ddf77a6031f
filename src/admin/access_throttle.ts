import { createHmac, randomBytes } from 'node:crypto';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { normaliseEmail } from '../base/email_address.ts';
import { toOrigin } from '../base/origin.ts';
import { Refusal } from '../base/refusal.ts';

/** Requests for access that one origin, and one e-mail address, may make within the window. */
export const REQUESTS_PER_ORIGIN_MAX = 10;
export const REQUESTS_PER_EMAIL_MAX = 3;
export const REQUEST_WINDOW_SECONDS = 60 * 60;
/** Names share counters, so that no flood of names can fill the memory. Which ones, nobody can know. */
const COUNTERS_MAX = 65_536;

const SLOW_DOWN = 'You asked several times already. Your request is kept; ask again later.';

const limit = (name: string, points: number) =>
  new RateLimiterMemory({ keyPrefix: name, points, duration: REQUEST_WINDOW_SECONDS });

/** Counts the requests for access that this process takes. */
export class AccessThrottle {
  readonly #perOrigin = limit('origin', REQUESTS_PER_ORIGIN_MAX);
  readonly #perEmail = limit('email', REQUESTS_PER_EMAIL_MAX);
  readonly #secret = randomBytes(32);

  #counterOf(name: string): number {
    return createHmac('sha256', this.#secret).update(name).digest().readUInt32BE() % COUNTERS_MAX;
  }

  /** Refuses past the limits, which do not depend on who is known. */
  async count({ email, address }: { email: string; address: string }): Promise<void> {
    try {
      await this.#perOrigin.consume(this.#counterOf(toOrigin(address)));
      await this.#perEmail.consume(this.#counterOf(normaliseEmail(email)));
    } catch (refused) {
      if (refused instanceof Error) throw refused;
      const { msBeforeNext } = refused as { msBeforeNext: number };
      throw new Refusal('rate_limited', {
        detail: SLOW_DOWN,
        retryAfterSeconds: Math.ceil(msBeforeNext / 1_000),
      });
    }
  }
}

export const makeAccessThrottle = (): AccessThrottle => new AccessThrottle();
