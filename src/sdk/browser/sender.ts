import { warn } from './config.ts';
import type { Settings } from './config.ts';
import { timeOf } from './queue.ts';
import type { Queue } from './queue.ts';
import {
  BATCH_EVENTS_MAX,
  KEEPALIVE_BYTES_MAX,
  nextRequest,
  post,
  withoutTime,
} from './request.ts';
import type { Answer, Request } from './request.ts';
import type { Store } from './store.ts';

const BACK_OFF_MS_MIN = 1_000;
const BACK_OFF_MS_MAX = 60_000;
/** Whoever comes back when they are told to comes within so long, not all at once. */
const RETURN_MS_MAX = 1_000;
/** A pause that is longer was not ours, or the clock was set back. */
const PAUSE_MS_MAX = 3_600_000;
/** Where tabs cannot agree, each takes what another has left for so long. */
const LEFT_MS = 30_000;

const PAUSED_UNTIL = 'paused_until';
const ACCEPTED = 202;
const BAD_REQUESTS = [400, 413, 422];
const TRY_AGAIN = [408, 425, 429];

export type Sender = {
  /** Says that something was added to the queue. */
  added: () => void;
  /** Sends what waits, as far as it may. */
  flush: () => Promise<void>;
  /** The same, after the network came back. */
  reconnect: () => void;
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

export const openSender = (settings: Settings, store: Store, queue: Queue): Sender => {
  const { apiKey, flushIntervalMs, flushQueueSize, maxRetries } = settings;
  const inFlight = new Set<string>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let running: Promise<void> | undefined;
  let isStopped = false;
  let isUnreachable = false;
  let failures = 0;
  let retries = 0;
  let eventsMax = BATCH_EVENTS_MAX;

  /** Tabs keep a pause together, and the next page keeps it, too. */
  const pauseMs = (): number => {
    const left = Number(store.get(PAUSED_UNTIL)) - Date.now();
    return left > 0 && left < PAUSE_MS_MAX ? left : 0;
  };
  const cancel = (): void => {
    clearTimeout(timer);
    timer = undefined;
  };
  const schedule = (ms: number): void => {
    cancel();
    if (!isStopped) timer = setTimeout(() => void flush(), Math.max(ms, pauseMs()));
  };

  const send = async (request: Request): Promise<Answer> => {
    for (const id of request.ids) inFlight.add(id);
    const answer = await post(settings, request);
    for (const id of request.ids) inFlight.delete(id);
    if (answer.status === ACCEPTED) queue.remove(request.ids);
    return answer;
  };

  /** Drops what the API names as bad. If it names nothing, fewer events at once find it. */
  const mend = ({ ids }: Request, { issues }: Answer): void => {
    const [first = ''] = ids;
    const text = queue.get(first) ?? '';
    const undated = withoutTime(text);
    if (issues.some(({ path }) => path === '/occurred_at') && undated !== text)
      return queue.put(first, undated);
    const named = ids.filter((_, at) =>
      issues.some(({ path }) => `${path}/`.startsWith(`/events/${at}/`)),
    );
    const bad = named.length === 0 && ids.length === 1 ? ids : named;
    for (const id of bad) warn('refused, and dropped:', queue.get(id), issues);
    queue.remove(bad);
    eventsMax = bad.length > 0 ? BATCH_EVENTS_MAX : Math.ceil(ids.length / 2);
  };

  /** Begins a pause; answers in how many milliseconds to try again, or null for the next occasion. */
  const pause = ({ status, retryAfterMs }: Answer): number | null => {
    const backOff = Math.min(BACK_OFF_MS_MIN * 2 ** failures, BACK_OFF_MS_MAX);
    const ms = retryAfterMs
      ? retryAfterMs + Math.random() * RETURN_MS_MAX
      : backOff * (0.5 + Math.random() / 2);
    store.set(PAUSED_UNTIL, String(Math.ceil(Date.now() + ms)));
    isUnreachable = status === 0;
    failures += 1;
    retries = retries < maxRetries ? retries + 1 : 0;
    return retries > 0 ? ms : null;
  };

  /** Sends all that is there, request by request; answers when to go on, or null for the next occasion. */
  const drain = async ({ isHeld, hasLocks }: Locked): Promise<number | null> => {
    if (!isHeld || pauseMs() > 0) return flushIntervalMs;
    const isLeft = (id: string): boolean => Date.now() - timeOf(id) > LEFT_MS;
    const isDue = (id: string): boolean =>
      !inFlight.has(id) && (hasLocks || queue.isOwn(id) || isLeft(id));
    let due = queue.list().filter(isDue);
    const hasSome = due.length > 0;
    while (due.length > 0 && !isStopped) {
      const request = nextRequest(queue, due, { eventsMax });
      const answer = await send(request);
      const { status } = answer;
      if (status === ACCEPTED) {
        [failures, retries, eventsMax] = [0, 0, BATCH_EVENTS_MAX];
      } else if (BAD_REQUESTS.includes(status)) {
        mend(request, answer);
      } else if (status < 400 || status >= 500 || TRY_AGAIN.includes(status)) {
        return pause(answer);
      } else {
        isStopped = true;
        warn(
          `nothing is sent any more: ${settings.apiHost} answered ${status}. Look at apiKey and apiHost.`,
        );
      }
      due = due.filter((id) => queue.get(id) !== undefined);
    }
    return hasSome && queue.size() >= flushQueueSize ? 0 : flushIntervalMs;
  };

  const flush = (): Promise<void> => {
    if (isStopped) return Promise.resolve();
    cancel();
    running ??= alone(`trunkline ${apiKey}`, drain)
      .catch(() => null)
      .then((ms) => {
        running = undefined;
        if (ms !== null && queue.size() > 0) schedule(ms);
      });
    return running;
  };

  return {
    added: () => {
      if (timer === undefined) schedule(flushIntervalMs);
      if (queue.size() >= flushQueueSize && pauseMs() === 0) void flush();
    },
    flush,
    reconnect: () => {
      if (isUnreachable) store.remove(PAUSED_UNTIL);
      if (queue.size() > 0) void flush();
    },
    leave: () => {
      if (isStopped || (pauseMs() > 0 && !isUnreachable)) return;
      let due = queue.list().filter((id) => queue.isOwn(id) && !inFlight.has(id));
      for (let left = KEEPALIVE_BYTES_MAX; due.length > 0;) {
        const request = nextRequest(queue, due, { bytesMax: left });
        left -= request.bytes;
        if (left < 0) return;
        void send(request);
        due = due.filter((id) => !inFlight.has(id));
      }
    },
    stop: () => {
      isStopped = true;
      cancel();
    },
  };
};
