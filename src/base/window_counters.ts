/** What one counter has left, and when its window ends. */
export type Reading = { remaining: number; resetMs: number };

type Counter = { used: number; until: number };

/**
 * Counts units per name in fixed windows. A window begins with the first units of a name.
 *
 * A check and its charge are separate and synchronous, so that one request takes units from several counters or
 * from none. Expired counters are removed once per window.
 */
export class WindowCounters {
  readonly #windowMs: number;
  readonly #counters = new Map<string | number, Counter>();
  #sweepAt = 0;

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  get size(): number {
    return this.#counters.size;
  }

  /** Returns whether a name has room for `units` out of `share`. A fresh window has room for up to `most`. */
  hasRoom(name: string | number, units: number, { share, most }: { share: number; most: number }) {
    const { used } = this.#read(name);
    return used + units <= share || (used === 0 && units <= most);
  }

  /**
   * Charges a name. Units beyond `share` lengthen the window: several processes that each let one large request
   * through stay within their shares on average. Returns when the charged window ends.
   */
  charge(name: string | number, units: number, share: number): number {
    const now = Date.now();
    const counter = this.#read(name, now);
    const windows = Math.max(1, Math.ceil(units / share));
    const until = counter.used === 0 ? now + windows * this.#windowMs : counter.until;
    this.#counters.set(name, { used: counter.used + units, until });
    this.#sweep(now);
    return until;
  }

  /** Returns units to a name whose window is still the charged one, by its end. A later window keeps its charges. */
  refund(name: string | number, units: number, until: number): void {
    const counter = this.#counters.get(name);
    if (counter?.until === until) counter.used = Math.max(0, counter.used - units);
  }

  read(name: string | number, share: number): Reading {
    const now = Date.now();
    const { used, until } = this.#read(name, now);
    return { remaining: Math.max(0, share - used), resetMs: until - now };
  }

  #read(name: string | number, now = Date.now()): Counter {
    const counter = this.#counters.get(name);
    return counter && counter.until > now ? counter : { used: 0, until: now + this.#windowMs };
  }

  #sweep(now: number): void {
    if (now < this.#sweepAt) return;
    this.#sweepAt = now + this.#windowMs;
    for (const [name, { until }] of this.#counters) if (until <= now) this.#counters.delete(name);
  }
}
