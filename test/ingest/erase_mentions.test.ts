import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { accept } from '../../src/ingest/ingest.ts';
import { connectTo } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();

const eraseMany = async (projectId: string, anonymousIds: string[], max = 10) => {
  const client = await connectTo(database, projectId);
  const { rows } = await client.query<{ events: number; last_ordinal: number | null }>(
    `select events, last_ordinal from ingest.erase_mentions(
      project_id => $1, anonymous_ids => $2, since => 'epoch', events_max => $3)`,
    [projectId, anonymousIds, max],
  );
  return rows[0];
};
const erase = async (projectId: string, anonymousId: string, max?: number) =>
  (await eraseMany(projectId, [anonymousId], max))?.events;

test('a device is taken out of the events of known people, so many at a time; they stay otherwise', async () => {
  const projectId = newId();
  const event = { event: 'seen', properties: { n: 1 } };
  const events = [
    { ...event, external_id: 'bob', anonymous_id: 'd' },
    { ...event, external_id: 'bob', anonymous_id: 'd' },
    { ...event, external_id: 'bob', anonymous_id: 'e' },
    { ...event, anonymous_id: 'd' },
  ];
  await accept(database.deps, { projectId, kind: 'server' }, { events });
  const read = async () =>
    (
      await database.owner.query<Record<string, unknown>>(
        'select * from ingest.events where project_id = $1 order by event_id',
        [projectId],
      )
    ).rows;
  const before = await read();
  expect([
    await erase(projectId, 'd', 1),
    await erase(projectId, 'd', 1),
    await erase(projectId, 'd', 1),
  ]).toEqual([1, 1, 0]);
  const expected = before.map((row) =>
    row['external_id'] === 'bob' && row['anonymous_id'] === 'd'
      ? { ...row, anonymous_id: null }
      : row,
  );
  expect(await read()).toEqual(expected);
  expect(await erase(newId(), 'e')).toBe(0);
});

test('many devices share one limit, in their order', async () => {
  const projectId = newId();
  const events = ['d', 'e', 'e', 'f'].map((anonymous_id) => ({
    event: 'seen',
    external_id: 'bob',
    anonymous_id,
  }));
  await accept(database.deps, { projectId, kind: 'server' }, { events });
  const whose = ['nobody', 'd', 'e', 'f'];
  expect(await eraseMany(projectId, whose, 2)).toEqual({ events: 2, last_ordinal: 3 });
  expect(await eraseMany(projectId, whose)).toEqual({ events: 2, last_ordinal: 4 });
  expect(await eraseMany(projectId, whose)).toEqual({ events: 0, last_ordinal: null });
});
