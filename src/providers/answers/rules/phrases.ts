import { lazyPattern } from './pattern.ts';
import type { Pattern } from './pattern.ts';
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
    (_, name: string) => `(${toAlternatives(expand(VOCABULARY[name] ?? missing(name))).join('|')})`,
  );

/** The alternatives of a text: its lines, and what `|` separates outside parentheses. */
const toAlternatives = (text: string): string[] => {
  const found = [''];
  let depth = 0;
  for (const sign of text) {
    if (sign === '(' || sign === '[') depth += 1;
    if (sign === ')' || sign === ']') depth -= 1;
    if (depth === 0 && (sign === '|' || sign === '\n')) found.push('');
    else found.push((found.pop() ?? '') + sign);
  }
  return found.map((each) => each.trim()).filter((each) => each !== '');
};

const compile = (line: string): string =>
  line
    // A long group goes on in the next line.
    .replaceAll(/\s{0,9}\n\s{0,40}/g, '')
    .replaceAll(/\((?!\?)/g, '(?:')
    // The end of a word: `don't`, `isn't`.
    .replaceAll(/(?<![a-z'])n't/g, "[a-z]{0,6}n't")
    .replaceAll(/([a-z])\*/g, '$1[a-z]{0,14}')
    .replaceAll(/(?<= )_ /g, TWO_WORDS)
    .replaceAll(/\s*\.\.\.\s*/g, GAP)
    .replaceAll(/(?<!\[) (?!-?\])/g, '[ -]');

/** `a ~ b`: both, in either order. */
const toPattern = (line: string): string => {
  if (/^\.\.\.|\.\.\.$/.test(line)) throw new Error(`a phrase has two sides: ${line}`);
  const [first = '', second] = line.split(' ~ ').map((part) => compile(expand(part)));
  return second === undefined
    ? first
    : `(?:${first})${GAP}(?:${second})|(?:${second})${GAP}(?:${first})`;
};

/**
 * Returns one pattern for phrases, one a line, over folded words. In a phrase `{name}` stands
 * for a word list of the vocabulary, `...` for a few words in the same sentence, `_` for at most
 * two words, `a ~ b` for both in either order, `fail*` for any ending, `n't` for the end of any
 * word, a space also for a hyphen;
 * `|`, `?`, `()` are those of regular expressions. Every quantifier is bounded, so time grows with
 * the text alone.
 */
export const phrases = (text: string): Pattern =>
  lazyPattern(
    () => `(?<![a-z0-9@])(?:${toAlternatives(text).map(toPattern).join('|')})(?![a-z0-9])`,
  );
