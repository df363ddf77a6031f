// What a thread runs: templates, which are other people's programs. It is stopped from outside when one takes too long.
import { parentPort, workerData } from 'node:worker_threads';
import { z } from 'zod';
import { examine } from './examine.ts';
import { render } from './render.ts';
import { show } from './show.ts';
import type { Outcome, Task } from './tasks.ts';

const { progress, turnMs, turnChars } = z
  .object({ progress: z.instanceof(Int32Array), turnMs: z.number(), turnChars: z.number() })
  .parse(workerData);

const perform = (task: Task): Outcome | Promise<Outcome> => {
  switch (task.kind) {
    case 'render':
      return render(task.source, task.variables, task.key);
    case 'show':
      return show(task.source, task.variables);
    case 'examine':
      return examine(task.written);
  }
};

const charsOf = (outcome: Outcome): number =>
  outcome.kind === 'rendered' ? outcome.message.html.length + outcome.message.text.length : 0;

/** Performs tasks in their order until its turn is over, always at least one; answers those that it came to. */
const performTurn = async (tasks: readonly Task[]): Promise<Outcome[]> => {
  const endsAt = performance.now() + turnMs;
  const outcomes: Outcome[] = [];
  let chars = 0;
  for (const task of tasks) {
    if (outcomes.length > 0 && (performance.now() >= endsAt || chars >= turnChars)) break;
    // Read by the thread that watches: how many were begun.
    Atomics.add(progress, 0, 1);
    const outcome = await perform(task);
    outcomes.push(outcome);
    chars += charsOf(outcome);
  }
  return outcomes;
};

parentPort?.on('message', (tasks: readonly Task[]) => {
  void performTurn(tasks).then((outcomes) => parentPort?.postMessage(outcomes));
});
