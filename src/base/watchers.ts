/** As long as a timer can wait. */
export const NEVER_MS = 2 ** 31 - 1;

/** Whoever waits for something to be so, for as long as they care to. */
export class Watchers {
  readonly #looks = new Set<() => void>();

  /** It may be so now: they look again. */
  notify(): void {
    for (const look of this.#looks) look();
  }

  /** Waits until something is so, but not longer than this. Answers whether it is. */
  async when(isSo: () => boolean, withinMs: number): Promise<boolean> {
    if (isSo()) return true;
    const { promise, resolve } = Promise.withResolvers<void>();
    const look = () => {
      if (isSo()) resolve();
    };
    this.#looks.add(look);
    const timer = setTimeout(resolve, Math.min(NEVER_MS, Math.max(0, withinMs)));
    await promise;
    clearTimeout(timer);
    this.#looks.delete(look);
    return isSo();
  }
}
