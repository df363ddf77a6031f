// The guide "Security model": every line of its tables names a test that shows it.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { routes } from '../../src/http/routes.ts';
import { readShown, readTables } from './guide_tables.ts';
import { findMissing } from './has_test.ts';

const guide = readFileSync(new URL('../../src/docs/security_model.md', import.meta.url), 'utf8');

type Row = { says: string; shown: Record<string, string[]> };

/** Returns the rows of every table of a text whose last column is "Shown by". */
const readRows = (text: string): Row[] =>
  readTables(text)
    .filter((row) => Object.keys(row).at(-1) === 'Shown by')
    .map((row) => ({
      says: Object.values(row)[0] ?? '',
      shown: readShown(row['Shown by'] ?? ''),
    }));

const rows = readRows(guide);

test('the guide has tables whose rows name tests', () => {
  expect(rows.length).toBeGreaterThan(60);
});

test.each(rows)('a test shows: $says', (row) => {
  expect(findMissing(row)).toEqual([]);
});

test('the table of publishable keys names every endpoint that they may call', () => {
  const open = routes.filter(({ access }) => access === 'publishable');
  expect(open.length).toBeGreaterThan(3);
  expect(
    open
      .map(({ method, path }) => `\`${method} ${path}\``)
      .filter((endpoint) => !guide.includes(endpoint)),
  ).toEqual([]);
});

test('a row without a test, or with one that does not exist, is reported', () => {
  const text = ['| says | Shown by |', '| --- | --- |', '| a | |', '| b | `x/y.test.ts` › "z" |'];
  const found = readRows(text.join('\n'));
  expect(found.map((row) => findMissing(row))).toEqual([
    ['nothing shows: a'],
    ['x/y.test.ts has no test "z"'],
  ]);
});
