import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { identify } from '../../src/profiles/identify.ts';
import { listProfiles } from '../../src/profiles/profiles.ts';
import { inProject } from '../../src/base/db.ts';
import { connectTo } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';
import { askToErase, runErasure } from '../support/erase.ts';

const database = testDatabase();
const ADD = `select segments.add_counters(project_id => $1, kinds => $2, identifiers => $3, condition_ids => $4,
  days => $5, counts => $6, firsts => $7, lasts => $8, lags => $9) as profile_ids`;
const CONDITION = newId();

const know = async (projectId: string, external_id: string): Promise<string> => {
  await identify(database.deps, { projectId, kind: 'server' }, { external_id });
  const [profile] = await inProject(database.deps, projectId, (scope) =>
    listProfiles(scope, { by: 'external', value: external_id }),
  );
  return profile?.id ?? '';
};
const at = (hour: number) => new Date(Date.UTC(2026, 4, 20, hour));
const toValues = (
  projectId: string,
  people: readonly string[],
  hour = 8,
  lagMs: number | null = null,
) => [
  projectId,
  people.map(() => 'external'),
  people,
  people.map(() => CONDITION),
  people.map(() => '2026-05-20'),
  people.map(() => 2),
  people.map(() => at(hour)),
  people.map(() => at(hour + 1)),
  people.map(() => lagMs),
];
const listCounters = async (projectId: string) =>
  (
    await database.owner.query(
      'select count::integer, first_at, last_at from segments.counters where project_id = $1',
      [projectId],
    )
  ).rows;

test('what is counted is added up, and the times reach from the first to the last', async () => {
  const projectId = newId();
  const ann = await know(projectId, 'ann');
  const client = await connectTo(database, projectId);
  for (const hour of [8, 5, 7]) {
    const { rows } = await client.query(ADD, toValues(projectId, ['ann', 'nobody'], hour));
    expect(rows).toEqual([{ profile_ids: [ann] }]);
  }
  expect(await listCounters(projectId)).toEqual([{ count: 6, first_at: at(5), last_at: at(9) }]);
});

test.each([
  ['the shortest', [9_000, 7_000, 8_000], '7000'],
  ['none, where one is not known', [9_000, null, 8_000], null],
])('a counter has one lag of its events: %s', async (_, lags, kept) => {
  const projectId = newId();
  await know(projectId, 'ann');
  const client = await connectTo(database, projectId);
  for (const lagMs of lags) await client.query(ADD, toValues(projectId, ['ann'], 8, lagMs));
  const { rows } = await database.owner.query(
    'select lag_ms from segments.counters where project_id = $1',
    [projectId],
  );
  expect(rows).toEqual([{ lag_ms: kept }]);
});

test('nothing is counted of whom is being erased, and what was counted goes with them', async () => {
  const projectId = newId();
  const ann = await know(projectId, 'ann');
  const client = await connectTo(database, projectId);
  await client.query(ADD, toValues(projectId, ['ann']));
  const erasure = await askToErase(database, projectId, ann);
  const { rows } = await client.query(ADD, toValues(projectId, ['ann']));
  expect(rows).toEqual([{ profile_ids: null }]);
  await runErasure(database, projectId, erasure);
  expect(await listCounters(projectId)).toEqual([]);
});

test('two who count the same people at once come one after the other', async () => {
  const projectId = newId();
  const people = ['ann', 'bob', 'cid'];
  for (const one of people) await know(projectId, one);
  const clients = [await connectTo(database, projectId), await connectTo(database, projectId)];
  const rounds = Array.from({ length: 20 });
  await Promise.all(
    clients.map(async (client, which) => {
      const given = which === 0 ? people : people.toReversed();
      for (const _ of rounds) await client.query(ADD, toValues(projectId, given));
    }),
  );
  expect(await listCounters(projectId)).toEqual(
    people.map(() => expect.objectContaining({ count: 2 * 2 * rounds.length }) as unknown),
  );
});
