import { VOCABULARY } from './vocabulary.ts';

/** How far apart two words may be that belong together; never across a period. */
const GAP = '(?![a-z0-9])[^.]{0,48}?(?<![a-z0-9])';
/** Up to two words in between. */
const TWO_WORDS = '(?:\\S{1,24} ){0,2}';

const missing = (name: string): never => {
  throw new Error(`no vocabulary ${name}`);
};

const expand = (text: string): string =>
  text.replaceAll(
    /\{([a-z_]+)\}/g,
    (_, name: string) => `(${toLines(expand(VOCABULARY[name] ?? missing(name))).join('|')})`,
  );

const toLines = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

const compile = (line: string): string =>
  line
    .replaceAll(/\((?!\?)/g, '(?:')
    .replaceAll(/([a-z])\*/g, '$1[a-z]{0,14}')
    .replaceAll(/(?<= )_ /g, TWO_WORDS)
    .replaceAll(/\s*\.\.\.\s*/g, GAP)
    .replaceAll(/(?<!\[) (?!-?\])/g, '[ -]');

/** `a ~ b`: both, in either order. */
const toAlternative = (line: string): string => {
  const [first = '', second] = line.split(' ~ ').map((part) => compile(expand(part)));
  return second === undefined
    ? first
    : `(?:${first})${GAP}(?:${second})|(?:${second})${GAP}(?:${first})`;
};

/**
 * Compiles phrases, one a line, into one pattern over folded words. In a phrase `{name}` stands for a
 * word list of the vocabulary, `...` for a few words in the same sentence, `_` for at most two words,
 * `a ~ b` for both in either order, `fail*` for any ending, a space also for a hyphen; `|`, `?`, `()`
 * are those of regular expressions. Every quantifier is bounded, so time grows with the text alone.
 */
export const phrases = (text: string): RegExp =>
  new RegExp(`(?<![a-z0-9@])(?:${toLines(text).map(toAlternative).join('|')})(?![a-z0-9])`);
