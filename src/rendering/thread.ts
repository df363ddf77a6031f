// What a thread runs: templates, which are other people's programs. It is stopped from outside when one takes too long.
import { parentPort, workerData } from 'node:worker_threads';
import { render, threadCpuMs } from './render.ts';
import type { Filled, Outcome, Task } from './tasks.ts';
import type { ThreadData, TurnResult } from './thread_handle.ts';

const { progress, cpuAtStart, turnMs, turnChars } = workerData as ThreadData;

/**
 * Loads what a turn needs and emails do not, before its first task begins: no project is slow because its thread was
 * new. Threads of emails start sooner without it, and stay smaller.
 */
const load = async (tasks: readonly Task[]): Promise<void> => {
  for (const task of tasks) {
    if (task.kind === 'show') await import('./show.ts');
    if (task.kind !== 'examine') {
      if (task.asserted) await import('./links/foreign.ts');
      continue;
    }
    await import('./examine.ts');
    if (task.written.mjml !== null) await (await import('./mjml.ts')).loadMjml();
  }
};

/** Most emails show nothing that only a browser asserted: their threads do without the guard. */
const findGuard = async ({ asserted, ...filled }: Filled & { key?: string }) =>
  asserted && (await import('./links/foreign.ts')).makeGuard({ ...filled, asserted });

const perform = async (task: Task): Promise<Outcome> => {
  switch (task.kind) {
    case 'render':
      return render(task.source, task.variables, {
        key: task.key,
        guard: await findGuard(task),
        isBare: task.isBare === true,
      });
    case 'show':
      return (await import('./show.ts')).show(task, await findGuard(task));
    case 'examine':
      return (await import('./examine.ts')).examine(task.written);
  }
};

const charsOf = (outcome: Outcome): number =>
  outcome.kind === 'rendered' ? outcome.message.html.length + outcome.message.text.length : 0;

/** Performs tasks in their order until its turn is over, always at least one; answers those that it came to. */
const performTurn = async (tasks: readonly Task[]): Promise<TurnResult> => {
  await load(tasks);
  const cpuBefore = threadCpuMs();
  cpuAtStart[0] = cpuBefore;
  const endsAt = performance.now() + turnMs;
  const outcomes: Outcome[] = [];
  let chars = 0;
  for (const task of tasks) {
    if (outcomes.length > 0 && (performance.now() >= endsAt || chars >= turnChars)) break;
    // How many were begun, for the thread that watches.
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
