import { GONE_ENHANCED, NEVER_ACCEPTS } from '../../../base/reply_codes.ts';
import { SAID_AS } from './bounce_words.ts';
import { BOUNCE_WORDS, SAID } from './words.ts';

const inCode = (words: readonly (string | number)[]): string =>
  words.map((word) => `\`${word}\``).join(', ');

/** What `event` may say, and what each word means: from the table by which it is read. */
export const EVENT_DESCRIPTION = [
  'What happened:',
  `${inCode(BOUNCE_WORDS)}: a bounce, as hard as \`bounce_type\` says, or else the reason and the codes.`,
  ...SAID.map(({ words, told }) => `${inCode(words)}: ${told}.`),
  'Capitals, and what stands between words, do not matter, nor does `email` or `message` in ' +
    'front: `email.HardBounce` is `hard_bounce`. An event of any other word is stored, and changes' +
    ' nothing.',
].join('\n\n');

const [{ behind }] = SAID_AS;

/** What a relay's own word for a bounce may be. */
export const BOUNCE_TYPE_DESCRIPTION = [
  'How hard a bounce is, in the relay’s own word. It counts, unless the reason or the codes name' +
    ' another cause. They make a bounce less hard, never harder.',
  ...SAID_AS.map(({ type, words }) => `${inCode(words)}: ${type}.`),
  `Behind it may stand ${inCode(behind)}: \`HardBounce\`, \`permanent failure\`. Any other word says nothing.`,
].join('\n\n');

/** What makes a bounce hard: the rules of `feedback/diagnostic.ts`. */
export const CODES_DESCRIPTION = [
  'What the receiver answered: an SMTP code, an enhanced code (RFC 3463), or both, as in `550 5.1.1`.',
  'The words of the reason count first: `user unknown` is hard, a full mailbox is soft.',
  'Policy, reputation, content, size, limits and the sender are a block.',
  `Without such words ${inCode(GONE_ENHANCED)}, ${inCode(NEVER_ACCEPTS)} are hard.`,
  'Codes `5.6.…` and `5.7.…` are a block, and all else is soft.',
  '`mailbox unavailable` alone says nothing.',
].join(' ');
