import { withoutAudit } from './audit.ts';

/** Something that lives as long as the process and may have to be closed. */
type Kept = { close?: () => void | Promise<void> };

/**
 * What rooms keep in memory for the life of a process: shared flushes, open connections, caches.
 * Made at first use, closed when the process stops. Never holds the only copy of anything promised.
 */
export class Resources {
  readonly #kept = new Map<unknown, Kept>();

  /** The one thing that `make` makes in this process. It outlives the call that needed it first, so it knows none. */
  of<T extends object, Needs>(make: (needs: Needs) => T, needs: Needs): T {
    const known = this.#kept.get(make);
    if (known) return known as T;
    const made = make(withoutAudit(needs));
    this.#kept.set(make, made as Kept);
    return made;
  }

  /** Closes everything: also what comes after something that cannot be closed, and what closing makes. */
  async close(): Promise<void> {
    const errors: unknown[] = [];
    for (let next; (next = this.#kept.entries().next().value) !== undefined;) {
      const [make, kept] = next;
      this.#kept.delete(make);
      try {
        await kept.close?.();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw new AggregateError(errors, 'not everything could be closed');
  }
}
