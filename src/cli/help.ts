import type { Options } from './arguments.ts';
import { optionsOf } from './command.ts';
import type { Command } from './command.ts';
import { COMMANDS } from './commands.ts';
import type { Style } from './terminal.ts';

const inColumns = (rows: readonly (readonly [string, string])[]): string[] => {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
};

const COLUMNS = 100;

/** A paragraph in lines that a terminal has room for. */
const wrap = (text: string): string => {
  const lines = [''];
  for (const word of text.split(' ')) {
    const last = lines.at(-1) ?? '';
    if (last !== '' && last.length + 1 + word.length > COLUMNS) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`.trim();
  }
  return lines.join('\n');
};

const usageOf = ({ name, takes = '' }: Command): string => `${name} ${takes}`.trim();

const toRows = (options: Options): [string, string][] =>
  Object.entries(options).map(([name, { takes, short, says }]) => [
    `${short === undefined ? '    ' : `-${short}, `}--${name}${takes === undefined ? '' : ` <${takes}>`}`,
    says,
  ]);

const ENDINGS = [
  'Exit codes: 0 done, 1 refused or failed, 2 called wrongly, 3 not signed in, 4 the service cannot be reached,',
  '5 somebody changed it meanwhile, 130 interrupted.',
];

/** How all of it is used, or all commands that begin alike. */
export const describeAll = (style: Style, group: string | null): string => {
  const commands = COMMANDS.filter(
    ({ name }) => group === null || name === group || name.startsWith(`${group} `),
  );
  return [
    'Templates, segments, automations and addresses of a Trunkline, from a terminal or from CI.',
    '',
    style.bold('Usage: ') + `trunkline ${group ?? '<command>'} … [options]`,
    '',
    style.bold('Commands'),
    ...inColumns(commands.map((command) => [usageOf(command), command.says])),
    '',
    'trunkline <command> --help says more of each. --json prints JSON.',
    ...ENDINGS,
  ].join('\n');
};

/** How one command is used. */
export const describe = (command: Command, style: Style): string => {
  const { more, says } = command;
  return [
    says,
    '',
    style.bold('Usage: ') + `trunkline ${usageOf(command)} [options]`,
    '',
    style.bold('Options'),
    ...inColumns(toRows(optionsOf(command))),
    ...(more === undefined ? [] : ['', wrap(more)]),
  ].join('\n');
};
