/** A word as relays write it: "Hard Bounce", "hard_bounce", "email.HardBounce" are one. */
export const toWord = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '')
    .replace(/^(?:email|message)/, '');

const SAID_AS: ['hard' | 'soft' | 'block', RegExp][] = [
  ['hard', /^(?:hard|perm|permanent)(?:bounced?|fail(?:ed|ure)?|error)?$/],
  ['soft', /^(?:soft|temp|temporary|transient)(?:bounced?|fail(?:ed|ure)?|error)?$/],
  ['block', /^(?:block|blocked)(?:bounced?)?$/],
];

/** What a relay's own word for a bounce says; null where it says nothing of how hard it is, as "error" does. */
export const readBounceType = (said: string | null): 'hard' | 'soft' | 'block' | null => {
  const word = toWord(said ?? '');
  return SAID_AS.find(([, words]) => words.test(word))?.[0] ?? null;
};
