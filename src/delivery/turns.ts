/**
 * One provider's sends in one process: at most so many are handed over at a time, and whoever finds
 * more while places are free adds to what is there. A relay that hangs holds its own places only.
 */
export class Turn<Item> {
  readonly #lanesMax: number;
  readonly #work: (item: Item) => Promise<void>;
  readonly #waiting: Item[] = [];
  readonly #errors: unknown[] = [];
  readonly #ended = Promise.withResolvers<void>();
  #busy = 0;

  constructor(lanesMax: number, work: (item: Item) => Promise<void>) {
    this.#lanesMax = lanesMax;
    this.#work = work;
  }

  /** Whether more could be begun at once. */
  get hasRoom(): boolean {
    return this.#waiting.length === 0 && this.#busy < this.#lanesMax;
  }

  add(items: readonly Item[]): void {
    this.#waiting.push(...items);
    this.#begin();
  }

  /** Resolves when nothing waits and nothing is being handed over. Throws what went wrong, when all is done. */
  async end(): Promise<void> {
    this.#begin();
    await this.#ended.promise;
    if (this.#errors.length > 0) {
      throw new AggregateError(this.#errors, 'some sends could not be handed over');
    }
  }

  #begin(): void {
    while (this.#busy < this.#lanesMax && this.#waiting.length > 0) void this.#run();
    if (this.#busy === 0) this.#ended.resolve();
  }

  async #run(): Promise<void> {
    const item = this.#waiting.shift();
    if (item === undefined) return;
    this.#busy += 1;
    await this.#work(item).catch((error: unknown) => this.#errors.push(error));
    this.#busy -= 1;
    this.#begin();
  }
}

/** The turns that run in this process, by provider. */
export class Turns<Item> {
  readonly #turnsMax: number;
  readonly #running = new Map<string, Turn<Item>>();

  constructor(turnsMax: number) {
    this.#turnsMax = turnsMax;
  }

  /** The turn of a provider that runs already, or null. */
  find(providerId: string): Turn<Item> | null {
    return this.#running.get(providerId) ?? null;
  }

  /** Whether another provider may have its turn now. */
  get hasRoom(): boolean {
    return this.#running.size < this.#turnsMax;
  }

  /** Runs a turn to its end. */
  async run(providerId: string, turn: Turn<Item>, begin: () => Promise<void>): Promise<void> {
    this.#running.set(providerId, turn);
    try {
      await begin();
      await turn.end();
    } finally {
      this.#running.delete(providerId);
    }
  }
}
