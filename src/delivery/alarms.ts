/** Longer waits are the sweeper's alone: it finds whatever is due. */
export const ALARM_MAX_MS = 3_600_000;

/**
 * One timer for each provider that waits for its time: a rate's next token, a circuit to be probed. Only
 * saves the wait for the sweeper, which finds the same when this process is gone.
 */
export class Alarms {
  readonly #timers = new Map<string, NodeJS.Timeout>();

  /** Rings once, after the time. A later call for the same provider replaces this one. */
  set(providerId: string, afterMs: number, ring: () => void): void {
    clearTimeout(this.#timers.get(providerId));
    this.#timers.delete(providerId);
    if (afterMs > ALARM_MAX_MS) return;
    const timer = setTimeout(() => {
      this.#timers.delete(providerId);
      ring();
    }, Math.ceil(afterMs));
    this.#timers.set(providerId, timer.unref());
  }

  close(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }
}

export const makeAlarms = (): Alarms => new Alarms();
