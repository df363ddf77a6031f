/** What a command has of the process it runs in. */
export type World = {
  env: Readonly<Record<string, string | undefined>>;
  stdin: Input;
  stdout: Output;
  stderr: Output;
  /** Whether what is said is read by programs: nobody is asked anything. */
  isForPrograms?: boolean;
};
export type Input = NodeJS.ReadableStream & {
  isTTY?: boolean;
  readableEnded?: boolean;
  setRawMode?: (isRaw: boolean) => unknown;
};
export type Output = { write: (text: string) => unknown; isTTY?: boolean };

const CODES = { bold: [1, 22], dim: [2, 22], red: [31, 39], green: [32, 39] } as const;
export type Style = Record<keyof typeof CODES, (text: string) => string>;

/** How words are set off on a terminal; nowhere else, and not where NO_COLOR asks for none. */
export const styleOf = ({ env, stdout }: World): Style => {
  const isPlain = stdout.isTTY !== true || (env['NO_COLOR'] ?? '') !== '' || env['TERM'] === 'dumb';
  const set =
    ([on, off]: readonly [number, number]) =>
    (text: string) =>
      isPlain || text === '' ? text : `\u001B[${on}m${text}\u001B[${off}m`;
  return {
    bold: set(CODES.bold),
    dim: set(CODES.dim),
    red: set(CODES.red),
    green: set(CODES.green),
  };
};

/** What would move the cursor, ring, end the line, or turn the direction of reading. */
const UNPRINTABLE = /[\p{Cc}\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]/gu;

/** A text that somebody wrote, in one line and without anything that a terminal would obey. */
export const plain = (text: string): string => text.replaceAll(UNPRINTABLE, '\u{FFFD}');

const widthOf = (text: string): number => Array.from(text).length;

/** Rows in columns, under their names; the last column is as long as it likes. */
export const toTable = (
  names: readonly string[],
  rows: readonly (readonly string[])[],
  { dim }: Pick<Style, 'dim'>,
): string => {
  const cells = [names, ...rows.map((row) => row.map(plain))];
  const widths = names.map((_, at) => Math.max(...cells.map((row) => widthOf(row[at] ?? ''))));
  const toLine = (row: readonly string[]): string =>
    row
      .map((cell, at) => cell + ' '.repeat((widths[at] ?? 0) - widthOf(cell)))
      .join('  ')
      .trimEnd();
  const [head = '', ...lines] = cells.map(toLine);
  return [dim(head), ...lines].join('\n');
};

/** A moment as it is written everywhere: to the second, in UTC. */
export const toTime = (at: string): string => at.replace(/\.\d+Z$/, 'Z');
