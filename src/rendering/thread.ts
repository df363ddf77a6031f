// What a thread runs: templates, which are other people's programs. It is stopped from outside when one takes too long.
import { parentPort, workerData } from 'node:worker_threads';
import { render, threadCpuMs } from './render.ts';
import type { Outcome, Task } from './tasks.ts';
import type { ThreadData, TurnResult } from './thread_handle.ts';

const { progress, turnMs, turnChars } = workerData as ThreadData;

/** What authors need is loaded for them alone: threads of mails begin sooner, and stay smaller. */
const perform = async (task: Task): Promise<Outcome> => {
  switch (task.kind) {
    case 'render':
      return render(task.source, task.variables, task.key);
    case 'show':
      return (await import('./show.ts')).show(task.source, task.variables);
    case 'examine':
      return (await import('./examine.ts')).examine(task.written);
  }
};

const charsOf = (outcome: Outcome): number =>
  outcome.kind === 'rendered' ? outcome.message.html.length + outcome.message.text.length : 0;

/** Performs tasks in their order until its turn is over, always at least one; answers those that it came to. */
const performTurn = async (tasks: readonly Task[]): Promise<TurnResult> => {
  const cpuBefore = threadCpuMs();
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
  return { outcomes, cpuMs: threadCpuMs() - cpuBefore };
};

parentPort?.on('message', (tasks: readonly Task[]) => {
  void performTurn(tasks).then((result) => parentPort?.postMessage(result));
});
