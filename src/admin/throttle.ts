import { createHmac, randomBytes } from 'node:crypto';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import type { Deps } from '../base/deps.ts';
import { normaliseEmail } from '../base/email_address.ts';
import { watchQueue } from '../base/memory_queues.ts';
import { toOrigin } from '../base/origin.ts';
import { Refusal } from '../base/refusal.ts';

/** Wrong sign-ins that one account, and one origin address, may have within the window. */
export const SIGN_INS_PER_ACCOUNT_MAX = 10;
export const SIGN_INS_PER_ADDRESS_MAX = 30;
export const SIGN_IN_WINDOW_SECONDS = 15 * 60;
/** Each takes 32 MiB and a thread that names are resolved and files are read with. */
export const SIGN_INS_AT_ONCE_MAX = 2;
export const SIGN_INS_WAITING_MAX = 20;
/** Names share counters, so that no flood of names can fill the memory. Which ones, nobody can know. */
const COUNTERS_MAX = 65_536;

const limit = (name: string, points: number) =>
  new RateLimiterMemory({ keyPrefix: name, points, duration: SIGN_IN_WINDOW_SECONDS });

export type Attempt = { email: string; address: string };

/** Counts the sign-ins of this process that were wrong, and bounds how many are looked at together. */
export class Throttle {
  readonly #perAccount = limit('account', SIGN_INS_PER_ACCOUNT_MAX);
  readonly #perAddress = limit('address', SIGN_INS_PER_ADDRESS_MAX);
  readonly #secret = randomBytes(32);
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  get waitingCount(): number {
    return this.#waiting.length;
  }

  #counterOf(name: string): number {
    return createHmac('sha256', this.#secret).update(name).digest().readUInt32BE() % COUNTERS_MAX;
  }

  /** Takes an attempt before it is looked at, so that many at once cannot slip through. Refuses past the limits. */
  async #count(attempt: Attempt): Promise<() => Promise<void>> {
    const address = this.#counterOf(toOrigin(attempt.address));
    const account = this.#counterOf(normaliseEmail(attempt.email));
    try {
      await this.#perAddress.consume(address);
      await this.#perAccount.consume(account);
    } catch (refused) {
      if (refused instanceof Error) throw refused;
      const { msBeforeNext } = refused as { msBeforeNext: number };
      throw new Refusal('too_many_sign_ins', {
        retryAfterSeconds: Math.ceil(msBeforeNext / 1_000),
      });
    }
    return async () => {
      await this.#perAddress.reward(address);
      await this.#perAccount.reward(account);
    };
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= SIGN_INS_AT_ONCE_MAX) {
      if (this.#waiting.length >= SIGN_INS_WAITING_MAX)
        throw new Refusal('too_many_sign_ins', { retryAfterSeconds: 1 });
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else {
      this.#running += 1;
    }
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running -= 1;
    }
  }

  /**
   * Looks at an attempt. `check` answers null for a wrong one; a right one counts for nothing, nor does one that could
   * not be looked at: nobody is locked out because the database was away.
   */
  async attempt<T>(attempt: Attempt, check: () => Promise<T | null>): Promise<T | null> {
    const forgive = await this.#count(attempt);
    let isWrong = false;
    try {
      const answer = await this.#inTurn(check);
      isWrong = answer === null;
      return answer;
    } finally {
      if (!isWrong) await forgive();
    }
  }
}

export const makeThrottle = (deps: Pick<Deps, 'resources'>): Throttle => {
  const throttle = new Throttle();
  watchQueue(deps, 'sign_ins', { size: () => throttle.waitingCount, max: SIGN_INS_WAITING_MAX });
  return throttle;
};
