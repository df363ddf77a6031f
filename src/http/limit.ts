import { WindowCounters } from '../base/window_counters.ts';

/** Limits are per second; a burst may take what this many seconds allow at once. */
export const WINDOW_SECONDS = 10;

/** Requests count under `key` and `address`, their work under the other three. */
type Policy = 'key' | 'address' | 'key_units' | 'address_units' | 'anonymous_id_units';

/** One limit as it stands for a caller after a request. */
export type Standing = {
  policy: Policy;
  /** What the whole installation grants in a window. */
  quota: number;
  /** What this process still grants, until `resetSeconds` from now. */
  remaining: number;
  resetSeconds: number;
  isExceeded: boolean;
};

/** One policy's counters in this process. */
export class Limit {
  readonly policy: Policy;
  readonly quota: number;
  readonly counters = new WindowCounters(WINDOW_SECONDS * 1_000);
  #share: number;

  constructor(policy: Policy, perSecond: number) {
    this.policy = policy;
    this.quota = Math.max(1, perSecond * WINDOW_SECONDS);
    this.#share = this.quota;
  }

  share(processes: number): void {
    this.#share = Math.ceil(this.quota / processes);
  }

  hasRoom(name: string | number, units: number): boolean {
    return this.counters.hasRoom(name, units, { share: this.#share, most: this.quota });
  }

  charge(name: string | number, units: number): void {
    this.counters.charge(name, units, this.#share);
  }

  standing(name: string | number, isExceeded = false): Standing {
    const { remaining, resetMs } = this.counters.read(name, this.#share);
    return {
      policy: this.policy,
      quota: this.quota,
      remaining: isExceeded ? 0 : remaining,
      resetSeconds: Math.max(1, Math.ceil(resetMs / 1_000)),
      isExceeded,
    };
  }
}

/** Makes a limit; 0 is none. */
export const limitOf = (policy: Policy, perSecond: number): Limit | null =>
  perSecond > 0 ? new Limit(policy, perSecond) : null;
