import {
  AMBIGUOUS_ENHANCED,
  EDGE_ENHANCED,
  GONE_ENHANCED,
  NEVER_ACCEPTS,
  NO_SUCH_MAILBOX,
} from '../base/bounce_type.ts';
import { SAID_AS } from './bounce_words.ts';
import { BOUNCE_WORDS, SAID } from './generic_words.ts';

const inCode = (words: readonly (string | number)[]): string =>
  words.map((word) => `\`${word}\``).join(', ');

/** What `event` may say, and what each word means: from the table by which it is read. */
export const EVENT_TOLD = [
  'What happened:',
  `${inCode(BOUNCE_WORDS)}: a bounce, as hard as \`bounce_type\` says, or else the codes.`,
  ...SAID.map(({ words, told }) => `${inCode(words)}: ${told}.`),
  'Capitals, and what stands between words, do not matter, nor does `email` or `message` in front: ' +
    '`email.HardBounce` is `hard_bounce`. An event of any other word is kept, and changes nothing.',
].join('\n\n');

const [{ behind }] = SAID_AS;

/** What a relay's own word for a bounce may be. */
export const BOUNCE_TYPE_TOLD = [
  'How hard a bounce is, in the relay’s own word. It counts before any code, and where the event says it, too.',
  ...SAID_AS.map(({ type, words }) => `${inCode(words)}: ${type}.`),
  `Behind it may stand ${inCode(behind)}: \`HardBounce\`, \`permanent failure\`. Any other word says nothing.`,
].join('\n\n');

/** What codes make a bounce hard: the rules of `base/bounce_type.ts`. */
export const CODES_TOLD =
  'What the receiver answered: an SMTP code, an enhanced code (RFC 3463), or both, as in `550 5.1.1`. A `bounce` of ' +
  'which no word says how hard it is is hard only where the mailbox is gone: with ' +
  `${inCode(GONE_ENHANCED)}; with ${inCode(NEVER_ACCEPTS)}; with ${inCode(AMBIGUOUS_ENHANCED)}, or ` +
  `\`${NO_SUCH_MAILBOX}\` and no enhanced code, and a reason such as \`user unknown\`; with \`${EDGE_ENHANCED}\` ` +
  'and `Recipient address rejected: Access denied`. `5.7.…` is a block, and all else is soft.';
