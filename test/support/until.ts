import { setTimeout as wait } from 'node:timers/promises';

const POLL_MS = 20;
/** What takes longer is asked for less often, that is a tenth later at most: to ask costs whoever is waited for. */
const POLL_MAX_MS = 100;
const TIMEOUT_MS = 60_000;

/** Asks until the answer is neither null nor false; fails after a bound, saying what never came. */
export const until = async <T>(
  what: string,
  ask: () => Promise<T | null | false> | T | null | false,
  timeoutMs = TIMEOUT_MS,
  pollMs = POLL_MS,
): Promise<T> => {
  const startedAt = Date.now();
  for (let passed = 0; passed < timeoutMs; passed = Date.now() - startedAt) {
    const answer = await ask();
    if (answer !== null && answer !== false) return answer;
    await wait(Math.max(pollMs, Math.min(POLL_MAX_MS, passed / 10)));
  }
  throw new Error(`${what}: not within ${timeoutMs} ms`);
};
