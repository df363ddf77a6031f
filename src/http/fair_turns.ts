/** Begins work in the turns of the event loop: so much in each, and each origin in its order as often as others. */
export class FairTurns {
  readonly #perTurn: number;
  /** What waits, by address; the address whose turn is next stands first. */
  readonly #lines = new Map<string, (() => void)[]>();
  #begun = 0;
  #isTurnEnding = false;

  constructor(perTurn: number) {
    this.#perTurn = perTurn;
  }

  /** Begins work now if the turn has room and nothing waits. Otherwise calls `onWait` and begins it in a later turn. */
  begin(address: string, work: () => void, onWait: () => void = () => {}): void {
    this.#endTurn();
    if (this.#lines.size === 0 && this.#begun < this.#perTurn) {
      this.#begun += 1;
      work();
      return;
    }
    const line = this.#lines.get(address);
    if (line) line.push(work);
    else this.#lines.set(address, [work]);
    onWait();
  }

  #endTurn(): void {
    if (this.#isTurnEnding) return;
    this.#isTurnEnding = true;
    setImmediate(() => {
      this.#isTurnEnding = false;
      this.#begun = 0;
      if (this.#lines.size > 0) this.#beginNext();
    });
  }

  #beginNext(): void {
    this.#endTurn();
    while (this.#begun < this.#perTurn) {
      const [next] = this.#lines;
      if (!next) return;
      const [address, line] = next;
      const work = line.shift();
      this.#lines.delete(address);
      if (line.length > 0) this.#lines.set(address, line);
      this.#begun += 1;
      work?.();
    }
  }
}
