import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { acceptEvents } from '../../src/ingest/queries.ts';
import { connectTo, rowsRead } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';
import { keyOf, newEvent } from './some_events.ts';

const database = testDatabase();

const accept = (projectId: string, messageId: string | null) => {
  const event = newEvent({ message_id: messageId });
  return acceptEvents(database.deps.db, projectId, newId(), [event]).then(() => event.event_id);
};
const FIRST_EVENTS =
  'select ingest.first_events(project_id => $1, event_ids => $2, message_keys => $3) as found';
const firstEvents = async (projectId: string, eventIds: string[], messageIds: (string | null)[]) =>
  (
    await database.owner.query<{ found: string[] }>(FIRST_EVENTS, [
      projectId,
      eventIds,
      messageIds.map((id) => id && keyOf(id)),
    ])
  ).rows[0]?.found;

test('each item becomes the first event with its message id, itself without one, nobody when it is gone', async () => {
  const projectId = newId();
  const [a, b] = [await accept(projectId, 'a'), await accept(projectId, 'b')];
  await accept(newId(), 'c');
  const own = [newId(), newId(), newId(), newId()];
  expect(await firstEvents(projectId, own, ['b', null, 'c', 'a'])).toEqual([b, own[1], null, a]);
});

test('message ids are looked up one by one, however little the planner knows of the table', async () => {
  const projectId = newId();
  for (let at = 0; at < 40; at += 1) {
    const events = Array.from({ length: 50 }, (_, n) => newEvent({ message_id: `m-${at}-${n}` }));
    await acceptEvents(database.deps.db, projectId, newId(), events);
  }
  const client = await connectTo(database, projectId);
  await client.query('begin');
  await client.query('set local plan_cache_mode = force_generic_plan');
  const { rows } = await client.query<{ found: string[] }>(FIRST_EVENTS, [
    projectId,
    [newId(), newId()],
    ['m-1-1', 'm-2-2'].map(keyOf),
  ]);
  expect(rows[0]?.found).toHaveLength(2);
  expect(await rowsRead(client, 'ingest.message_ids')).toBe(2);
});
