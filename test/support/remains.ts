import type pg from 'pg';

/** Every table of the database but Postgres's own: ours, the queue's, the migrators'. */
const listEveryTable = async (client: pg.Client): Promise<string[]> => {
  const { rows } = await client.query<{ name: string }>(`
    select format('%I.%I', n.nspname, c.relname) as name
    from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
    where c.relkind in ('r', 'p') and not c.relispartition
    and n.nspname !~ '^(pg_.*|information_schema)$'
    order by name`);
  return rows.map(({ name }) => name);
};

/** A row of any table as text, every column of whatever type in it; bytes in hex. */
export type Row = { table: string; text: string };

export const readEverything = async (client: pg.Client): Promise<Row[]> => {
  const all: Row[] = [];
  for (const table of await listEveryTable(client)) {
    const { rows } = await client.query<{ text: string }>(
      `select whole_row::text as text from ${table} as whole_row`,
    );
    all.push(...rows.map(({ text }) => ({ table, text })));
  }
  return all;
};

const toHex = (text: string): string => Buffer.from(text).toString('hex');

/** Where any of some words stands, in whatever case, as text or as bytes: `table: word`. */
export const findRemains = async (
  client: pg.Client,
  words: readonly string[],
): Promise<string[]> => {
  const needles = words.flatMap((word) => [
    { word, needle: word.toLowerCase() },
    { word, needle: toHex(word) },
  ]);
  const found = (await readEverything(client)).flatMap(({ table, text }) =>
    needles
      .filter(({ needle }) => text.toLowerCase().includes(needle))
      .map(({ word }) => `${table}: ${word}`),
  );
  return [...new Set(found)].toSorted();
};

/** The rows that were there and are not any more, as they were. */
export const listChanged = (before: readonly Row[], after: readonly Row[]): Row[] => {
  const left = Map.groupBy(after, ({ table, text }) => `${table} ${text}`);
  return before.filter((row) => !left.has(`${row.table} ${row.text}`));
};
