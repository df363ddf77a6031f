// The table of what was measured, kept beside the code: `make bench keep=yes`.
import type { Report } from './measure.ts';

/** Where and when a figure was measured, and of which commit. */
export type Occasion = { date: string; commit: string; machine: string };

const COLUMNS = [
  'measure',
  'ratio',
  'wanted',
  'measured',
  'compared with',
  'date',
  'commit',
  'machine',
];
const README_COLUMNS = ['measure', 'ratio', 'wanted'];

const toLine = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
const headOf = (columns: readonly string[]): string[] => [
  toLine(columns),
  `|${columns.map(() => '---').join('|')}|`,
];

const cellsOf = (line: string): string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());

/** The rows of the first table with these columns. */
const rowsOf = (text: string, columns: readonly string[]): string[][] => {
  const lines = text.split('\n');
  const at = lines.indexOf(toLine(columns));
  if (at < 0) return [];
  const rows = lines.slice(at + 2);
  const end = rows.findIndex((line) => !line.startsWith('|'));
  return rows.slice(0, end < 0 ? rows.length : end).map(cellsOf);
};

const toRow = (report: Report, { date, commit, machine }: Occasion): string[] => [
  report.name,
  report.ratio,
  report.verdict,
  `${report.measured} ${report.unit}`,
  `${report.comparison} ${report.unit}: ${report.comparedWith}`,
  date,
  commit,
  machine,
];

/** The text with a table whose rows are these, in the place of the one with the same columns. */
const replaceTable = (
  text: string,
  columns: readonly string[],
  rows: readonly (readonly string[])[],
): string => {
  const lines = text.split('\n');
  const at = lines.indexOf(toLine(columns));
  if (at < 0) throw new Error(`there is no table of ${columns.join(', ')}`);
  const count = rowsOf(text, columns).length + headOf(columns).length;
  return lines.toSpliced(at, count, ...headOf(columns), ...rows.map(toLine)).join('\n');
};

/** The kept results with these among them: each measure has one row, the newest. */
export const mergeResults = (
  text: string,
  reports: readonly Report[],
  occasion: Occasion,
): string => {
  const rows = new Map(rowsOf(text, COLUMNS).map((row) => [row[0], row]));
  for (const report of reports) rows.set(report.name, toRow(report, occasion));
  return replaceTable(text, COLUMNS, [...rows.values()]);
};

/** The README with the ratios of the kept results. */
export const showResults = (readme: string, results: string): string =>
  replaceTable(
    readme,
    README_COLUMNS,
    rowsOf(results, COLUMNS).map((row) => row.slice(0, README_COLUMNS.length)),
  );
