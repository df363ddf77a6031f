// Tables of guides in Markdown.

/** A row of a table: what it says, by the heading of the column. */
export type GuideRow = Readonly<Record<string, string>>;

const cellsOf = (line: string): string[] =>
  line
    .slice(1, -1)
    .split(' | ')
    .map((cell) => cell.trim());

/** Returns the rows of every table of a text. */
export const readTables = (text: string): GuideRow[] => {
  const rows: GuideRow[] = [];
  let headings: string[] | null = null;
  for (const line of text.split('\n')) {
    if (!line.startsWith('|')) headings = null;
    else if (headings === null) headings = cellsOf(line);
    else if (!/^[-| ]+$/.test(line))
      rows.push(Object.fromEntries(cellsOf(line).map((cell, at) => [headings?.[at] ?? '', cell])));
  }
  return rows;
};

/** Returns what a cell names: `file` › "title", any number of them. */
export const readShown = (cell: string): Record<string, string[]> => {
  const shown: Record<string, string[]> = {};
  for (const [, file = '', title = ''] of cell.matchAll(/`([\w/]+\.(?:test\.)?ts)` › "([^"]+)"/g))
    (shown[file] ??= []).push(title);
  return shown;
};
