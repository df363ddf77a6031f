import { hash } from 'node:crypto';
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

const ALGORITHMS = ['md5', 'sha1', 'sha256', 'sha512'];
/** What may be left of a digest that was cut: 16 bytes in hex, 15 of them in Base64. */
const HEX_CHARS = 32;
const BASE64_CHARS = 20;

/** What a value may have been digested as: as it is, in lower case, as JSON, or behind the name of a property. */
const formsOf = (value: string, properties: readonly string[]): string[] =>
  [value, value.toLowerCase()].flatMap((form) => [
    form,
    JSON.stringify(form),
    ...properties.map((property) => JSON.stringify([property, form])),
  ]);

const UUID_ENDS = [8, 12, 16, 20, 32];

/** Whether a digest in hex stands in a text as an id does, with hyphens. */
const isUuidIn = (text: string, needle: string): boolean =>
  needle.length === HEX_CHARS &&
  text.includes(UUID_ENDS.map((end, at) => needle.slice(UUID_ENDS[at - 1] ?? 0, end)).join('-'));

/** Returns where a digest without a key of any of some words stands: `table: word`. */
export const findDigests = async (
  client: pg.Client,
  words: readonly string[],
  properties: readonly string[],
): Promise<string[]> => {
  const needles = words.flatMap((word) =>
    formsOf(word, properties).flatMap((form) =>
      ALGORITHMS.flatMap((algorithm) => [
        { word, needle: hash(algorithm, form, 'hex').slice(0, HEX_CHARS) },
        { word, needle: hash(algorithm, form, 'base64').slice(0, BASE64_CHARS) },
        { word, needle: hash(algorithm, form, 'base64url').slice(0, BASE64_CHARS) },
      ]),
    ),
  );
  const found = (await readEverything(client)).flatMap(({ table, text }) =>
    needles
      .filter(({ needle }) => text.includes(needle) || isUuidIn(text, needle))
      .map(({ word }) => `${table}: ${word}`),
  );
  return [...new Set(found)].toSorted();
};

/** The rows that were there and are not any more, as they were. */
export const listChanged = (before: readonly Row[], after: readonly Row[]): Row[] => {
  const left = Map.groupBy(after, ({ table, text }) => `${table} ${text}`);
  return before.filter((row) => !left.has(`${row.table} ${row.text}`));
};
