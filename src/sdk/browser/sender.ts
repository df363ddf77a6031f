import type { Settings } from './config.ts';
import { openExchange } from './exchange.ts';
import { openPause } from './pause.ts';
import { timeOf } from './queue.ts';
import type { Queue } from './queue.ts';
import type { Store } from './store.ts';

/** Where tabs cannot agree, each takes what another has left for so long. */
const LEFT_MS = 30_000;

export type Sender = {
  /** Says that something was added to the queue. */
  added: () => void;
  /** Sends what waits, as far as it may. */
  flush: () => Promise<void>;
  /** The same, when somebody looks at the page again, or the network came back. */
  resume: () => void;
  /** Hands what this page made over to the browser: the page may be gone at once. */
  leave: () => void;
  stop: () => void;
};

type Locked = { isHeld: boolean; hasLocks: boolean };

/** Runs something while no other tab does. Where there are no locks, it runs. */
const alone = async <T>(name: string, run: (locked: Locked) => Promise<T>): Promise<T> => {
  const { locks } = navigator as Partial<Navigator>;
  let answer: Promise<T> | undefined;
  try {
    await locks?.request(name, { ifAvailable: true }, (lock) => {
      answer = run({ isHeld: lock !== null, hasLocks: true });
      return answer;
    });
  } catch {
    // Refused, as in a sandboxed frame.
  }
  return answer ?? run({ isHeld: true, hasLocks: false });
};

/** Decides when something is sent. */
export const openSender = (settings: Settings, store: Store, queue: Queue): Sender => {
  const { apiKey, flushIntervalMs, flushQueueSize, maxRetries } = settings;
  const pause = openPause(store, maxRetries);
  const exchange = openExchange(settings, queue, pause);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let running: Promise<void> | undefined;
  let isStopped = false;

  const cancel = (): void => {
    clearTimeout(timer);
    timer = undefined;
  };
  const schedule = (ms: number): void => {
    cancel();
    if (!isStopped) timer = setTimeout(() => void flush(), Math.max(ms, pause.leftMs()));
  };
  /** Answers in how many milliseconds there may be something to do, or null for the next occasion. */
  const drain = async ({ isHeld, hasLocks }: Locked): Promise<number | null> => {
    if (!isHeld || pause.leftMs() > 0) return flushIntervalMs;
    const isLeft = (id: string): boolean => Date.now() - timeOf(id) > LEFT_MS;
    const due = queue.list().filter((id) => hasLocks || queue.isOwn(id) || isLeft(id));
    const waiting = queue.size();
    const next = await exchange.drain(due);
    if (next === 'never') isStopped = true;
    if (next !== 'on' && next !== 'never') return next;
    return queue.size() < waiting && queue.size() >= flushQueueSize ? 0 : flushIntervalMs;
  };
  const flush = async (): Promise<void> => {
    cancel();
    if (isStopped) return;
    running ??= alone(`trunkline ${apiKey}`, drain)
      .catch(() => null)
      .then((ms) => {
        running = undefined;
        if (ms !== null && queue.size() > 0) schedule(ms);
      });
    await running;
  };
  return {
    added: () => {
      if (timer === undefined) schedule(flushIntervalMs);
      if (queue.size() >= flushQueueSize && pause.leftMs() === 0) void flush();
    },
    flush,
    resume: () => {
      pause.lift();
      if (queue.size() > 0) void flush();
    },
    leave: () => {
      const isWelcome = pause.leftMs() === 0 || pause.isUnreachable();
      if (isWelcome && !isStopped) exchange.handOver(queue.list().filter(queue.isOwn));
    },
    stop: () => {
      isStopped = true;
      cancel();
    },
  };
};
