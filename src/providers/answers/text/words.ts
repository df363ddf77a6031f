import { maskAddresses, maskHosts, MASKS, maskUrls } from './mask.ts';
import type { Addresses } from './mask.ts';

/**
 * The text of a reply in two forms: with hosts and URLs for the rules of known hosts, and words
 * alone.
 */
export type Words = { signs: string; words: string };

/** UTF-8 that was read as Latin-1: `dÃ©passÃ©`. */
const MOJIBAKE = /[\u00c2-\u00c5][\u0080-\u00bf]/;

/** Undoes a wrong decoding, where the text can only have come from one. */
export const repair = (text: string): string => {
  if (!MOJIBAKE.test(text)) return text;
  const repaired = Buffer.from(text, 'latin1').toString('utf8');
  return repaired.includes('\ufffd') ? text : repaired;
};

/** Letters that Unicode does not decompose into a letter and its accent. */
const BARE: Record<string, string> = {
  ß: 'ss',
  ł: 'l',
  Ł: 'L',
  ı: 'i',
  ø: 'o',
  Ø: 'O',
  đ: 'd',
  æ: 'ae',
  œ: 'oe',
};

/** Letters of any script without accents and marks. */
export const foldLetters = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[ßłŁıøØđæœ]/g, (letter) => BARE[letter] ?? letter);

/** Letters without accents, plain quotes, single spaces, lower case. */
export const fold = (text: string): string =>
  foldLetters(text)
    .replace(/[\u2018\u2019\u201b\u0060\u00b4]/g, "'")
    .replace(/[\u201c\u201d\u00ab\u00bb]/g, '"')
    .replace(/[<>]/g, ' ')
    .replace(/(?<![a-z])['"]|['"](?![a-z])/gi, ' ')
    .replace(/[\u2010-\u2015]/g, '-')
    // oxlint-disable-next-line no-control-regex
    .replace(/[\u0000-\u0020\u007f\u00a0]{1,9999}/g, ' ')
    .toLowerCase()
    .trim();

/** What servers append for their own logs: the client's IP, their own name, the id of the session. */
const TAIL = new RegExp(
  '(?: (?:[[(]@ip[\\])]|(?=\\S{0,40}\\d)[a-z0-9]{8,40}' +
    '|(?<!\\b(?:from|at|by|see|visit|for|of|is|to|in|on|using|host|ip|address|with|domain|server) )@host' +
    ')){1,3}\\.?$',
);

/** Some servers name a mailbox alone: `<bob> is disabled`. Commands in brackets are followed by a colon. */
const LEADING_LOCAL = /^\s{0,8}<[\w.+-]{1,64}>(?= (?:is|was|has|does)\b)/;

/**
 * Reduces text to what may be matched: no address, and in `words` no host, IP or URL either, so
 * that what a person calls a mailbox or a domain never decides.
 */
export const readWords = (text: string, addresses: Addresses): Words => {
  const masked = maskAddresses(repair(text), addresses).replace(LEADING_LOCAL, MASKS.address);
  return { signs: fold(masked), words: fold(maskHosts(maskUrls(masked))).replace(TAIL, '') };
};
