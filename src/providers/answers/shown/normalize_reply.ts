import { maskAddresses, maskHosts, maskUrls } from '../text/mask.ts';
import { parseReply } from '../text/parse_reply.ts';
import { fold } from '../text/words.ts';

/** Enough to tell replies apart, short enough for a column with an index. */
export const NORMALIZED_CHARS_MAX = 300;

/**
 * Times, session ids, queue ids, hashes: a word of digits and letters, or a long one of any signs.
 */
const ID = /(?<![a-z0-9@])(?=[a-z0-9+/=_.:-]{0,120}\d)[a-z0-9+/=_.:-]{6,400}(?![a-z0-9])/g;
const NUMBER = /(?<![a-z0-9@])\d{1,20}(?![a-z0-9])/g;

/**
 * Each group of lines of a reply may name another host; their codes are kept, their ids are not.
 */
const toPlain = (text: string): string =>
  fold(maskHosts(maskUrls(maskAddresses(text))))
    .replace(ID, '#')
    .replace(NUMBER, '#')
    .replace(/(?:# ?[[\](){},;:.-]{0,3} ?){2,200}/g, '# ')
    .replace(/\s{2,999}/g, ' ')
    .trim();

/**
 * Reduces a reply to what is the same in identical answers about different recipients: its codes
 * and its words. Addresses, hosts, IPs, URLs, ids, times and numbers are masked. At most
 * NORMALIZED_CHARS_MAX characters. Pure; never throws.
 */
export const normalizeReply = (reply: string): string => {
  const { code, enhanced, lines } = parseReply(reply);
  const codes = [code, enhanced].filter((part) => part !== null).join(' ');
  return `${codes} ${toPlain(lines.join(' '))}`.trim().slice(0, NORMALIZED_CHARS_MAX);
};
