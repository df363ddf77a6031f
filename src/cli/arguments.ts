import { parseArgs } from 'node:util';
import { misused } from './failure.ts';

/** An option of a command: a switch, unless it takes something. */
export type Option = { takes?: string; short?: string; says: string };
export type Options = Readonly<Record<string, Option>>;

/** What a command line says: its words, and its options by their names. */
export type Line = { words: string[]; options: Map<string, string | true> };

/** How many letters have to be added, left out, exchanged or turned round to come from one word to the other. */
const distanceOf = (from: readonly string[], to: readonly string[]): number => {
  const rows = [Array.from({ length: to.length + 1 }, (_, at) => at)];
  for (const [above, letter] of from.entries()) {
    const row = rows[above] ?? [];
    const next = [above + 1];
    for (const [at, other] of to.entries()) {
      const isTurned = at > 0 && above > 0 && letter === to[at - 1] && from[above - 1] === other;
      next.push(
        Math.min(
          (next[at] ?? 0) + 1,
          (row[at + 1] ?? 0) + 1,
          (row[at] ?? 0) + (letter === other ? 0 : 1),
          isTurned ? (rows[above - 1]?.[at - 1] ?? 0) + 1 : Infinity,
        ),
      );
    }
    rows.push(next);
  }
  return rows.at(-1)?.at(-1) ?? 0;
};

/** One letter in three may be wrong, and of a long name not more than these. */
const WRONG_LETTERS_MAX = 3;
/** The beginning of a word says which it is from so many letters on. */
const BEGINNING_CHARS_MIN = 2;

const lettersOf = (word: string): string[] => Array.from(word.trim().toLowerCase());

/** How far a word is from what was written; null where nobody would have meant it. */
const farFrom = (written: string, word: string): number | null => {
  const [from, to] = [lettersOf(written), lettersOf(word)];
  if (from.length >= BEGINNING_CHARS_MIN && to.join('').startsWith(from.join(''))) return 1;
  const most = Math.min(WRONG_LETTERS_MAX, Math.floor(Math.max(from.length, to.length) / 3));
  if (from.length === 0 || Math.abs(from.length - to.length) > most) return null;
  const far = distanceOf(from, to);
  return far <= most ? far : null;
};

/** The word that somebody most likely meant, if it is not far from one. */
export const nearestOf = (written: string, words: readonly string[]): string | null => {
  const [nearest] = words
    .flatMap((word) => {
      const far = farFrom(written, word);
      return far === null ? [] : { word, far };
    })
    .toSorted((a, b) => a.far - b.far);
  return nearest?.word ?? null;
};

const meant = (word: string, words: readonly string[], as = ''): string[] => {
  const nearest = nearestOf(word, words);
  return nearest === null ? [] : [`Did you mean ${as}${nearest}?`];
};

type Meant = {
  /** What was written, and what may be. */
  word: string;
  words: readonly string[];
  /** What stands before it. */
  as?: string;
  /** What else there is to do. */
  todo?: readonly string[];
};

/** Refuses a word that names nothing, with what was meant. */
export const refuseWord = (says: string, { word, words, as = '', todo = [] }: Meant) =>
  misused(says, ...meant(word, words, as), ...todo);

const withArticle = (noun: string): string => `${/^[aeiou]/i.test(noun) ? 'an' : 'a'} ${noun}`;

type Token = Extract<
  NonNullable<ReturnType<typeof parseArgs>['tokens']>[number],
  { kind: 'option' }
>;

const readOption = (
  known: Options,
  { name, rawName, value, inlineValue }: Token,
): string | true => {
  const option = known[name];
  if (option === undefined)
    throw misused(`There is no option ${rawName}.`, ...meant(name, Object.keys(known), '--'));
  if (option.takes === undefined) {
    if (value !== undefined) throw misused(`${rawName} takes nothing.`);
    return true;
  }
  const isAnother = inlineValue === false && /^-./.test(value ?? '');
  if (value === undefined || value === '' || isAnother)
    throw misused(`${rawName} needs ${withArticle(option.takes)}: ${rawName}=…`);
  return value;
};

/** Takes a command line apart. `known` are the options of every command: which of them one takes, it says itself. */
export const readLine = (args: readonly string[], known: Options): Line => {
  const options = Object.fromEntries(
    Object.entries(known).map(([name, { takes, short }]) => [
      name,
      {
        type: takes === undefined ? ('boolean' as const) : ('string' as const),
        ...(short === undefined ? {} : { short }),
      },
    ]),
  );
  const { tokens } = parseArgs({
    args: [...args],
    options,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const line: Line = { words: [], options: new Map() };
  for (const token of tokens) {
    if (token.kind === 'positional') line.words.push(token.value);
    if (token.kind === 'option') line.options.set(token.name, readOption(known, token));
  }
  return line;
};

/** A whole number within bounds. */
export const readNumber = (
  name: string,
  text: string,
  { min, max }: { min: number; max: number },
): number => {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : NaN;
  if (number >= min && number <= max) return number;
  throw misused(`--${name} is a whole number from ${min} to ${max}, and not ${text}.`);
};

/** One of a few words. */
export const readChoice = <Choice extends string>(
  what: string,
  text: string,
  choices: readonly Choice[],
): Choice => {
  const found = choices.find((choice) => choice === text);
  if (found !== undefined) return found;
  throw refuseWord(`${what} is ${choices.join(' or ')}, and not ${text}.`, {
    word: text,
    words: choices,
  });
};
