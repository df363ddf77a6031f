import { parseArgs } from 'node:util';
import { misused } from './failure.ts';

/** An option of a command: a switch, unless it takes something. */
export type Option = { takes?: string; short?: string; says: string };
export type Options = Readonly<Record<string, Option>>;

/** What a command line says: its words, and its options by their names. */
export type Line = { words: string[]; options: Map<string, string | true> };

/** How many letters have to be added, left out or exchanged to come from one word to the other. */
const distanceOf = (from: string, to: string): number => {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (const [above, letter] of Array.from(from).entries()) {
    const next = [above + 1];
    for (const [at, other] of Array.from(to).entries())
      next.push(
        Math.min(
          (next[at] ?? 0) + 1,
          (row[at + 1] ?? 0) + 1,
          (row[at] ?? 0) + (letter === other ? 0 : 1),
        ),
      );
    row = next;
  }
  return row[to.length] ?? 0;
};

/** The word that somebody most likely meant, if it is not far from one. */
export const nearestOf = (word: string, words: readonly string[]): string | null => {
  const [nearest] = words
    .map((one) => ({ one, far: one.startsWith(word) ? 1 : distanceOf(word, one) }))
    .filter(({ one, far }) => word !== '' && far <= Math.max(1, Math.ceil(one.length / 3)))
    .toSorted((a, b) => a.far - b.far);
  return nearest?.one ?? null;
};

const meant = (word: string, words: readonly string[], as = ''): string[] => {
  const nearest = nearestOf(word, words);
  return nearest === null ? [] : [`Did you mean ${as}${nearest}?`];
};

/** Refuses a word that names nothing, with what was meant. */
export const refuseWord = (says: string, word: string, words: readonly string[]) =>
  misused(says, ...meant(word, words));

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
    throw misused(`${rawName} needs a ${option.takes}: ${rawName}=…`);
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
  throw refuseWord(`${what} is ${choices.join(' or ')}, and not ${text}.`, text, choices);
};
