import { setImmediate as untilAllWait } from 'node:timers/promises';

type Question<Input, Answer> = {
  input: Input;
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
};
type Kind = { countWaiting: () => number; answer: () => Promise<void> };

/**
 * Collects what walks ask at the same moment and answers all questions of a kind with one call. A walk waits for its
 * answer. Once all walks wait, the kind with the most questions comes first, so that the others gather more. Calls
 * never overlap: a transaction runs one statement at a time.
 */
export class Batcher {
  readonly #kinds: Kind[] = [];
  #isAnswering = false;

  /**
   * Adds a kind of question and returns the function that asks one. `answerAll` returns an answer for each input, in
   * the order of the inputs. If it throws, each of its questions throws.
   */
  add<Input, Answer>(
    answerAll: (inputs: readonly Input[]) => Promise<readonly Answer[]>,
  ): (input: Input) => Promise<Answer> {
    let waiting: Question<Input, Answer>[] = [];
    const answer = async (): Promise<void> => {
      const batch = waiting;
      waiting = [];
      try {
        const answers = await answerAll(batch.map(({ input }) => input));
        if (answers.length !== batch.length) throw new Error('a question has no answer');
        for (const [at, { resolve }] of batch.entries()) resolve(answers[at] as Answer);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    };
    this.#kinds.push({ countWaiting: () => waiting.length, answer });
    return (input) =>
      new Promise((resolve, reject) => {
        waiting.push({ input, resolve, reject });
        if (!this.#isAnswering) void this.#answerAll();
      });
  }

  async #answerAll(): Promise<void> {
    this.#isAnswering = true;
    for (;;) {
      await untilAllWait();
      const [next] = this.#kinds.toSorted((a, b) => b.countWaiting() - a.countWaiting());
      if (!next || next.countWaiting() === 0) break;
      await next.answer();
    }
    this.#isAnswering = false;
  }
}
