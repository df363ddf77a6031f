import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import type { EventRow } from '../../src/ingest/events.ts';
import { acceptEvents } from '../../src/ingest/queries.ts';
import { connectTo } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';
import { newEvent } from './some_events.ts';

const database = testDatabase();

const flush = async (projectId: string, ...events: EventRow[]): Promise<string> => {
  const flushId = newId();
  await acceptEvents(database.deps.db, projectId, flushId, events);
  return flushId;
};
const forget = async (projectId: string, flushIds: string[], devices: string[]) => {
  const client = await connectTo(database, projectId);
  const { rows } = await client.query<{ events: number }>(
    'select ingest.forget_devices(project_id => $1, flush_ids => $2, anonymous_ids => $3, but_of => null) as events',
    [projectId, flushIds, devices],
  );
  return rows[0]?.events;
};
const devicesOf = async (projectId: string) =>
  (
    await database.owner.query<{ anonymous_id: string | null }>(
      'select anonymous_id from ingest.events where project_id = $1 order by event_id',
      [projectId],
    )
  ).rows.map(({ anonymous_id }) => anonymous_id);

test('devices are taken out of what known people did, in these flushes and no others', async () => {
  const projectId = newId();
  const first = await flush(
    projectId,
    newEvent({ anonymous_id: 'd' }),
    newEvent({ anonymous_id: 'e' }),
    newEvent({ anonymous_id: 'f' }),
    newEvent({ external_id: null, anonymous_id: 'd' }),
  );
  await flush(projectId, newEvent({ anonymous_id: 'd' }));
  expect(await forget(newId(), [first], ['d', 'e'])).toBe(0);
  expect(await forget(projectId, [first], ['d', 'e'])).toBe(2);
  expect(await devicesOf(projectId)).toEqual([null, null, 'f', 'd', 'd']);
  expect(await forget(projectId, [first], ['d', 'e'])).toBe(0);
  expect(await forget(projectId, [], ['d'])).toBe(0);
});
