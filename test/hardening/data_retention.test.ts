// The guide "Data retention": every table of the schema is in it once, and each line about a table that grows names the
// job that removes its rows and the test that shows it.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readShown, readTables } from './guide_tables.ts';
import type { GuideRow } from './guide_tables.ts';
import { findMissing } from './has_test.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** Rows that other work removes than a task. */
const OTHER_JOBS = ["the worker's sweep", 'the next sign-in', 'the next refused post'];
const TABLE = /^`(\w+\.\w+)`$/;

const rows = readTables(read('src/docs/data_retention.md')).filter(({ Table }) => Table);
const growing = rows.filter((row) => 'Job' in row);
const nameOf = ({ Table = '' }: GuideRow): string => TABLE.exec(Table)?.[1] ?? Table;

/** Returns the tables of a schema that are not in a list once, and those in the list that do not exist. */
const findWrong = (schema: string, listed: readonly string[]): string[] => {
  const tables = [...schema.matchAll(/^create table (\w+\.\w+)/gm)].map(([, name = '']) => name);
  return [
    ...tables.filter((name) => !listed.includes(name)).map((name) => `${name} is not listed`),
    ...listed
      .filter((name, at) => listed.indexOf(name) !== at)
      .map((name) => `${name} is listed twice`),
    ...listed.filter((name) => !tables.includes(name)).map((name) => `${name} does not exist`),
  ];
};

test('the guide lists every table of the schema, once', () => {
  expect(findWrong(read('db/schema.sql'), rows.map(nameOf))).toEqual([]);
});

test('a table that is missing, listed twice or does not exist is reported', () => {
  const schema = 'create table a.one (\n);\ncreate table a.two (\n);\n';
  expect(findWrong(schema, ['a.one', 'a.one', 'a.three'])).toEqual([
    'a.two is not listed',
    'a.one is listed twice',
    'a.three does not exist',
  ]);
});

test.each(growing)('a job that exists removes rows of $Table', ({ Job = '' }) => {
  const jobs = [...Job.matchAll(/`([\w/]+)`/g)].map(([, job = '']) => job);
  if (jobs.length === 0) expect(OTHER_JOBS).toContain(Job);
  const crontab = read('tasks/crontab');
  for (const job of jobs) {
    expect(existsSync(join(ROOT, 'tasks', `${job}.ts`))).toBe(true);
    expect(crontab).toContain(` ${job} ?jobKey=`);
  }
});

test.each(growing)('a test shows how long rows of $Table stay', (row) => {
  const shown = readShown(row['Shown by'] ?? '');
  expect(findMissing({ says: nameOf(row), shown })).toEqual([]);
});

test('every other table says what it holds, and one that stays says why', () => {
  const silent = rows.filter(
    (row) => !row['Holds'] || ('Why it stays' in row && !row['Why it stays']),
  );
  expect(silent).toEqual([]);
});
