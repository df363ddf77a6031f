import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { accept } from '../../src/ingest/ingest.ts';
import { connectTo } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();

type Erased = { events: number; mentions: number; last_at: Date | null };

const erase = async (
  projectId: string,
  [externalId, devices]: readonly [string, string[]],
  after = new Date(0),
  max = 10,
): Promise<Erased> => {
  const client = await connectTo(database, projectId);
  const { rows } = await client.query<Erased>(
    `select * from ingest.erase_mentions(project_id => $1, external_id => $2, anonymous_ids => $3, after => $4,
      events_max => $5)`,
    [projectId, externalId, devices, after, max],
  );
  return rows[0] as Erased;
};
const minute = (back: number) => new Date(Date.now() - back * 60_000).toISOString();
const store = (projectId: string, events: object[]) =>
  accept(
    database.deps,
    { projectId, kind: 'server' },
    { events: events.map((event) => ({ event: 'seen', properties: { n: 1 }, ...event })) },
  );
const read = async (projectId: string) =>
  (
    await database.owner.query<Record<string, unknown>>(
      'select * from ingest.events where project_id = $1 order by event_id',
      [projectId],
    )
  ).rows;

test('devices are taken out of the events of somebody else; those stay as they are otherwise', async () => {
  const projectId = newId();
  await store(projectId, [
    { external_id: 'bob', anonymous_id: 'd' },
    { external_id: 'bob', anonymous_id: 'e' },
    { external_id: 'bob', anonymous_id: 'f' },
    { external_id: 'bob' },
    { external_id: 'eve', anonymous_id: 'd' },
    { anonymous_id: 'd' },
  ]);
  const before = await read(projectId);
  expect(await erase(projectId, ['bob', ['d', 'e']])).toMatchObject({ events: 4, mentions: 2 });
  const expected = before.map((row) =>
    row['external_id'] === 'bob' && ['d', 'e'].includes(String(row['anonymous_id']))
      ? { ...row, anonymous_id: null }
      : row,
  );
  expect(await read(projectId)).toEqual(expected);
  expect(await erase(projectId, ['bob', ['d', 'e']])).toMatchObject({ events: 4, mentions: 0 });
  expect(await erase(newId(), ['eve', ['d']])).toEqual({ events: 0, mentions: 0, last_at: null });
  expect(await read(projectId)).toEqual(expected);
});

test('the oldest come first, all of one moment together, and the next call goes on after them', async () => {
  const projectId = newId();
  const [old, shared, late] = [minute(30), minute(20), minute(10)];
  await store(
    projectId,
    [late, shared, old, shared, shared].map((occurred_at) => ({
      external_id: 'bob',
      anonymous_id: 'd',
      occurred_at,
    })),
  );
  const first = await erase(projectId, ['bob', ['d']], new Date(0), 2);
  expect(first).toEqual({ events: 4, mentions: 4, last_at: new Date(shared) });
  const second = await erase(projectId, ['bob', ['d']], first.last_at as Date, 2);
  expect(second).toEqual({ events: 1, mentions: 1, last_at: new Date(late) });
  expect((await read(projectId)).map((row) => row['anonymous_id'])).toEqual(Array(5).fill(null));
});
