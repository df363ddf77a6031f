import { setTimeout as wait } from 'node:timers/promises';

const POLL_MS = 20;
const TIMEOUT_MS = 60_000;

/** Asks until the answer is neither null nor false; fails after a bound, saying what never came. */
export const until = async <T>(
  what: string,
  ask: () => Promise<T | null | false> | T | null | false,
  timeoutMs = TIMEOUT_MS,
  pollMs = POLL_MS,
): Promise<T> => {
  for (const giveUpAt = Date.now() + timeoutMs; Date.now() < giveUpAt; await wait(pollMs)) {
    const answer = await ask();
    if (answer !== null && answer !== false) return answer;
  }
  throw new Error(`${what}: not within ${timeoutMs} ms`);
};
