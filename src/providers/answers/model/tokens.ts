import type { Reading } from '../rules/rule.ts';

/** Letters of a word that count: `suspended` and `suspension` are one token. */
const STEM_CHARS = 5;

const WORD = /@?[\p{L}\p{N}_']{1,9999}/gu;
/** Ids, sizes and dates. Shorter numbers may be codes, counts or years of a filter. */
const LONG_NUMBER = /\d{4,9999}/g;
/** Scripts that write words without spaces between them. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u;

/** Returns each two letters that stand together, or the only one. */
const pairsOf = (run: string): string[] => {
  const letters = Array.from(run);
  const pairs = letters.slice(1).map((letter, at) => `${letters[at]}${letter}`);
  return pairs.length > 0 ? pairs : letters;
};

/** Joins two neighbors. No word has it. */
const JOINT = '+';

/** Returns the beginnings of words, and each two neighbors. */
const stemsOf = (words: string): string[] => {
  const stems = (words.replaceAll(LONG_NUMBER, ' 0000 ').match(WORD) ?? []).flatMap((word) =>
    UNSPACED.test(word) ? pairsOf(word) : word.slice(0, STEM_CHARS),
  );
  return [...stems, ...stems.slice(1).map((stem, at) => `${stems[at]}${JOINT}${stem}`)];
};

/**
 * Returns what the model knows of an SMTP reply, each once: the beginnings of its words, alone and
 * with their neighbors, its codes and the command that it answers. No word begins with `=`.
 */
export const tokensOfReply = (reading: Omit<Reading, 'signs'>): string[] => {
  const { words, code, enhanced, phase, class: replyClass } = reading;
  const codes = [`${code ?? ''}`, enhanced ?? 'none', `${replyClass}xx`, `${phase}${replyClass}`];
  return [...new Set(['=', `=${phase}`, ...codes.map((each) => `=${each}`), ...stemsOf(words)])];
};

export type AnswerToRead = {
  words: string;
  codes: readonly string[];
  status: number;
};

/**
 * Returns what the model knows of an answer of an API: the beginnings of its words and of the words
 * in its error codes, its status and its error codes.
 */
export const tokensOfAnswer = ({ words, codes, status }: AnswerToRead): string[] => {
  const marks = [
    `h${status}`,
    `h${Math.floor(status / 100)}xx`,
    ...codes.map((code) => `c${code}`),
  ];
  const inCodes = codes.join(' ').replaceAll(/[^a-z]{1,120}/g, ' ');
  return [
    ...new Set([
      '=',
      '=http',
      ...marks.map((mark) => `=${mark.replaceAll(/\s/g, '_')}`),
      ...stemsOf(`${inCodes} ${words}`),
    ]),
  ];
};

/** Whether a token is of the words. Codes, the command and the provider are not. */
export const isSpoken = (token: string): boolean => !token.startsWith('=');

/** Whether a token is two neighbors. */
export const isPair = (token: string): boolean => token.includes(JOINT) && isSpoken(token);

/** Whether a token is a word. Pairs, numbers, codes and masks are none. */
export const isWord = (token: string): boolean => /^\p{L}/u.test(token) && !isPair(token);
