import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { connectTo, rowsRead } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();

type Pair = readonly [device: string | null, person: string | null];

const REMEMBER = `select
  ingest.remember_devices(project_id => $1, anonymous_ids => $2, external_ids => $3, but_of => $4,
    months => array_fill($5::date, array[cardinality($2::text[])]))`;
const MONTH = '2026-03-01';
const remember = async (
  projectId: string,
  pairs: readonly Pair[],
  butOf: string[] | null = null,
  month = MONTH,
) =>
  (await connectTo(database, projectId)).query(REMEMBER, [
    projectId,
    pairs.map(([device]) => device),
    pairs.map(([, person]) => person),
    butOf,
    month,
  ]);
const remembered = async (projectId: string) => {
  const { rows } = await database.owner.query<{ version: string; pair: string }>(
    `select xmin::text as version, anonymous_id || ' ' || external_id as pair from ingest.devices
    where project_id = $1 order by pair`,
    [projectId],
  );
  return rows;
};

test('each pair of a device and a person is there once, however often they are seen', async () => {
  const projectId = newId();
  await remember(projectId, [
    ['d', 'ann'],
    ['d', 'bob'],
    ['e', 'ann'],
    ['d', null],
    [null, 'ann'],
  ]);
  const before = await remembered(projectId);
  expect(before.map(({ pair }) => pair)).toEqual(['d ann', 'd bob', 'e ann']);
  await remember(projectId, [
    ['d', 'ann'],
    ['d', 'ann'],
  ]);
  expect(await remembered(projectId)).toEqual(before);
  expect(await remembered(newId())).toEqual([]);
});

test('a pair has the month of its last event, whichever comes first', async () => {
  const projectId = newId();
  const monthOf = async () =>
    (
      await database.owner.query(
        'select last_month::text as month from ingest.devices where project_id = $1',
        [projectId],
      )
    ).rows.map(({ month }) => month);
  const see = (month: string) => remember(projectId, [['d', 'ann']], null, month);
  await see('2026-02-01');
  await see('2026-04-01');
  await see('2026-03-01');
  expect(await monthOf()).toEqual(['2026-04-01']);
});

test('nothing is remembered of the people who are left out', async () => {
  const projectId = newId();
  const pairs = [
    ['d', 'ann'],
    ['d', 'bob'],
  ] as const;
  await remember(projectId, pairs, ['ann']);
  expect((await remembered(projectId)).map(({ pair }) => pair)).toEqual(['d bob']);
});

test('two claims that see the same pairs in opposite orders neither deadlock nor double', async () => {
  const projectId = newId();
  for (let round = 0; round < 10; round += 1) {
    const pairs = Array.from({ length: 100 }, (_, at) => [`d-${round}-${at}`, 'ann'] as const);
    await Promise.all([remember(projectId, pairs), remember(projectId, pairs.toReversed())]);
  }
  expect(await remembered(projectId)).toHaveLength(1_000);
});

test('pairs are looked up one by one, however little the planner knows of the table', async () => {
  const projectId = newId();
  const pairs = Array.from({ length: 2_000 }, (_, at) => [`d-${at}`, 'ann'] as const);
  await remember(projectId, pairs);
  const client = await connectTo(database, projectId);
  await client.query('begin');
  await client.query('set local plan_cache_mode = force_generic_plan');
  await client.query(REMEMBER, [projectId, ['d-1', 'd-2'], ['ann', 'ann'], null, MONTH]);
  expect(await rowsRead(client, 'ingest.devices')).toBe(2);
});
