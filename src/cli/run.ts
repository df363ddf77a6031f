import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readLine, refuseWord } from './arguments.ts';
import type { Line } from './arguments.ts';
import { Given, optionsOf } from './command.ts';
import type { Answer, Command } from './command.ts';
import { ALL_OPTIONS, COMMANDS } from './commands.ts';
import { EXIT_CODES, Failure, misused } from './failure.ts';
import { describe, describeAll } from './help.ts';
import { plain, styleOf } from './terminal.ts';
import type { World } from './terminal.ts';

const NAMES = COMMANDS.map(({ name }) => name);
const GROUPS = [...new Set(NAMES.map((name) => name.split(' ')[0] ?? ''))];

type Found = { command: Command; words: string[] };

/** The command that the first words name. */
const find = (words: readonly string[]): Found => {
  const [first = '', second = ''] = words;
  const command =
    COMMANDS.find(({ name }) => name === `${first} ${second}`) ??
    COMMANDS.find(({ name }) => name === first);
  if (command) return { command, words: words.slice(command.name.split(' ').length) };
  const byDefault = COMMANDS.find(({ isDefaultOf }) => isDefaultOf === first);
  if (byDefault && second === '') return { command: byDefault, words: [] };
  const within = NAMES.filter((name) => name.startsWith(`${first} `));
  if (within.length === 0)
    throw refuseWord(`There is no command ${plain(first)}.`, { word: first, words: GROUPS });
  const others = within.map((name) => name.slice(first.length + 1));
  throw refuseWord(`There is no command ${first} ${plain(second)}.`, {
    word: second,
    words: others,
  });
};

const check = ({ command, words }: Found, { options }: Line): void => {
  const known = optionsOf(command);
  const strange = [...options.keys()].find((name) => !Object.hasOwn(known, name));
  if (strange !== undefined)
    throw refuseWord(`trunkline ${command.name} has no option --${strange}.`, {
      word: strange,
      words: Object.keys(known),
      as: '--',
    });
  const [more] = words.slice(command.wordsMax);
  if (more !== undefined)
    throw misused(`${plain(more)} is a word too many. A name with blanks stands in quotes.`);
};

/** The version of the package that this is in. */
const readVersion = (folder = dirname(fileURLToPath(import.meta.url))): string => {
  const manifest = join(folder, 'package.json');
  if (!existsSync(manifest)) return readVersion(dirname(folder));
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version;
};

/** What is asked of the program itself; null where it is asked to do something. */
const speak = (line: Line, world: World): string | null => {
  const style = styleOf(world);
  if (line.options.has('version')) return readVersion();
  const [first] = line.words;
  const words = first === 'help' ? line.words.slice(1) : line.words;
  if (!line.options.has('help') && first !== 'help' && first !== undefined) return null;
  const [group = null, second] = words;
  if (group === null) return describeAll(style, null);
  const isGroup = second === undefined && !NAMES.includes(group) && GROUPS.includes(group);
  return isGroup ? describeAll(style, group) : describe(find(words).command, style);
};

const say = (
  { value, text, aside = '' }: Answer,
  { stdout, stderr, isForPrograms }: World,
): void => {
  stdout.write(`${isForPrograms === true ? JSON.stringify(value, null, 2) : text}\n`);
  if (isForPrograms !== true && aside !== '') stderr.write(`${aside.trimEnd()}\n`);
};

const complain = (error: unknown, { stderr, isForPrograms }: World): number => {
  const failure =
    error instanceof Failure
      ? error
      : new Failure('failed', error instanceof Error ? error.message : String(error));
  const { ending, message, todo, said } = failure;
  const lines = [message, ...todo].map((line) => line.split('\n').map(plain).join('\n  '));
  const told = { error: ending, ...said, detail: message, todo };
  stderr.write(`${isForPrograms === true ? JSON.stringify(told) : lines.join('\n  ')}\n`);
  return EXIT_CODES[ending];
};

/** Does what a command line says, and answers its exit code. Nothing is thrown. */
export const run = async (args: readonly string[], given: World): Promise<number> => {
  // Also a line that cannot be read may ask for JSON.
  const world = { ...given, isForPrograms: args.includes('--json') };
  try {
    const line = readLine(args, ALL_OPTIONS);
    const spoken = speak(line, world);
    if (spoken !== null) {
      given.stdout.write(`${spoken}\n`);
      return EXIT_CODES.done;
    }
    const found = find(line.words);
    check(found, line);
    say(await found.command.run(new Given(found.words, line.options), world), world);
    return EXIT_CODES.done;
  } catch (error) {
    return complain(error, world);
  }
};
