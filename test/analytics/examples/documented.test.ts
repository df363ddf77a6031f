// Every documented query says what it answers, and answers it in time over a past that was seeded.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type pg from 'pg';
import { makeSeed } from '../../../src/runtime/seed/make.ts';
import { testDatabase } from '../../support/database.ts';
import { endAnalysts, keepAnalyst, newProject } from '../connect_analyst.ts';
import { EXAMPLES, readExample, runExample } from './run_example.ts';

const database = testDatabase();
endAnalysts();
let analyst: pg.Client;

const PARTITIONS = 28;
const PEOPLE = 400;

beforeAll(async () => {
  const projectId = await newProject(database);
  const options = { people: PEOPLE, events: 10_000, days: 400, seed: 7, until: new Date() };
  await makeSeed(database.deps, projectId, options);
  await database.owner.query('analyze');
  analyst = await keepAnalyst(database, projectId);
});

test('there are at least twelve', () => {
  expect(EXAMPLES.length).toBeGreaterThanOrEqual(12);
});

test('each has a test of its answers on a past written by hand', () => {
  const tests = globSync('*.test.ts', { cwd: import.meta.dirname })
    .map((file) => readFileSync(join(import.meta.dirname, file), 'utf8'))
    .join('\n');
  expect(EXAMPLES.filter((name) => !tests.includes(`test('${name}: `))).toEqual([]);
});

describe.each(EXAMPLES)('%s', (name) => {
  test('says its question, and the columns it answers', async () => {
    const text = readExample(name);
    expect(text).toMatch(/^-- Question: .+\n(--   .+\n)*-- Columns: .+\n(--   .+\n)*(?!--)/);
    const columns = /-- Columns:([^]*?)\n(?!--)/.exec(text)?.[1] ?? '';
    const { fields } = await analyst.query(text);
    for (const field of fields) expect(columns).toMatch(new RegExp(`\\b${field.name}\\b`));
  });

  test('answers over a seeded past before the time-out', async () => {
    await expect(runExample(analyst, name)).resolves.toBeInstanceOf(Array);
  });

  test('opens only the months it asks for', async () => {
    const { rows } = await analyst.query(`explain (analyze) ${readExample(name)}`);
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    const opened = new Set(plan.match(/ on events_\d{6}/g) ?? []);
    const isAboutEvents = /analytics\.(?:timeline|events)\b/.test(readExample(name));
    expect(opened.size > 0).toBe(isAboutEvents);
    // The longest range is 180 days; three months ahead are always there.
    expect(opened.size).toBeLessThanOrEqual(PARTITIONS - 16);
  });
});

test('the seeded past has answers for the questions about people', async () => {
  for (const name of ['funnel', 'top_events', 'retention_cohorts', 'first_touch'])
    expect((await runExample(analyst, name)).length).toBeGreaterThan(0);
  const days = await runExample(analyst, 'active_people_per_day');
  // All days but today, which may have just begun.
  expect(days.slice(0, -1).every(({ people }) => Number(people) > 0)).toBe(true);
  const plans = await runExample(analyst, 'people_by_trait');
  expect(plans.map(({ plan }) => String(plan)).toSorted()).toEqual([
    '(none)',
    'free',
    'pro',
    'team',
  ]);
});
