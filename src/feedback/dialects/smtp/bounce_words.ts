/** A word as relays write it: "Hard Bounce", "hard_bounce", "email.HardBounce" are one. */
export const toWord = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '')
    .replace(/^(?:email|message)/, '');

const BOUNCED = ['bounce', 'bounced'];
const FAILED = [...BOUNCED, 'fail', 'failed', 'failure', 'error'];

/** Relays' own words for how hard a bounce is, and what may stand behind each. */
export const SAID_AS = [
  { type: 'hard', words: ['hard', 'perm', 'permanent'], behind: FAILED },
  { type: 'soft', words: ['soft', 'temp', 'temporary', 'transient'], behind: FAILED },
  { type: 'block', words: ['block', 'blocked'], behind: BOUNCED },
] as const;

/**
 * What a relay's own word for a bounce says; null where it says nothing of how hard it is, as
 * "error" does.
 */
export const readBounceType = (said: string | null): 'hard' | 'soft' | 'block' | null => {
  const word = toWord(said ?? '');
  const isIt = (one: string, behind: readonly string[]) =>
    word === one || behind.some((end) => word === one + end);
  return SAID_AS.find(({ words, behind }) => words.some((one) => isIt(one, behind)))?.type ?? null;
};
