import type { Answer } from './request.ts';
import type { Store } from './store.ts';

const BACK_OFF_MS_MIN = 1_000;
const BACK_OFF_MS_MAX = 60_000;
/** Whoever comes back when they are told to comes within so long, not all at once. */
const RETURN_MS_MAX = 1_000;
/** No pause is longer: one that is was kept before the clock was set back. */
const PAUSE_MS_MAX = 3_600_000;

const NAME = 'paused_until';

export type Pause = {
  leftMs: () => number;
  /** Begins after a failure; answers in how many milliseconds to try again, or null for the next occasion. */
  begin: (answer: Answer) => number | null;
  /** The API takes what it is given. */
  end: () => void;
  /** Whether nobody answered. */
  isUnreachable: () => boolean;
  /** The network may be back. */
  lift: () => void;
};

/** When to leave the API alone: tabs keep it together, and the next page keeps it, too. */
export const openPause = (store: Store, maxRetries: number): Pause => {
  let isUnreachable = false;
  let failures = 0;
  let retries = 0;
  return {
    leftMs: () => {
      const left = Number(store.get(NAME)) - Date.now();
      return left > 0 && left <= PAUSE_MS_MAX ? left : 0;
    },
    begin: ({ status, retryAfterMs }) => {
      const backOffMs = Math.min(BACK_OFF_MS_MIN * 2 ** failures, BACK_OFF_MS_MAX);
      const ms = retryAfterMs
        ? Math.min(retryAfterMs + Math.random() * RETURN_MS_MAX, PAUSE_MS_MAX)
        : backOffMs * (0.5 + Math.random() / 2);
      store.set(NAME, String(Math.floor(Date.now() + ms)));
      isUnreachable = status === 0;
      failures += 1;
      retries = retries < maxRetries ? retries + 1 : 0;
      return retries > 0 ? ms : null;
    },
    end: () => {
      failures = 0;
      retries = 0;
    },
    isUnreachable: () => isUnreachable,
    lift: () => {
      if (isUnreachable) store.remove(NAME);
    },
  };
};
