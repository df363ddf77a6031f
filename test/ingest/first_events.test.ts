import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { acceptEvents } from '../../src/ingest/queries.ts';
import { testDatabase } from '../support/database.ts';
import { newEvent } from './some_events.ts';

const database = testDatabase();

const accept = (projectId: string, messageId: string | null) => {
  const event = newEvent({ message_id: messageId });
  return acceptEvents(database.deps.db, projectId, newId(), [event]).then(() => event.event_id);
};
const firstEvents = async (projectId: string, eventIds: string[], messageIds: (string | null)[]) =>
  (
    await database.owner.query<{ found: string[] }>(
      `select ingest.first_events(project_id => $1, event_ids => $2, message_ids => $3) as found`,
      [projectId, eventIds, messageIds],
    )
  ).rows[0]?.found;

test('each item becomes the first event with its message id, or itself, in their order', async () => {
  const projectId = newId();
  const [a, b] = [await accept(projectId, 'a'), await accept(projectId, 'b')];
  await accept(newId(), 'c');
  const own = [newId(), newId(), newId(), newId()];
  expect(await firstEvents(projectId, own, ['b', null, 'c', 'a'])).toEqual([b, own[1], own[2], a]);
});

test('message ids are looked up one by one, however little the planner knows of the table', async () => {
  const projectId = newId();
  for (let at = 0; at < 40; at += 1) {
    const events = Array.from({ length: 50 }, (_, n) => newEvent({ message_id: `m-${at}-${n}` }));
    await acceptEvents(database.deps.db, projectId, newId(), events);
  }
  const read = async (): Promise<number> => {
    await database.owner.query('select pg_stat_force_next_flush()');
    const { rows } = await database.owner.query<{ read: number }>(
      `select (idx_tup_fetch + coalesce(seq_tup_read, 0))::int as read from pg_stat_all_tables
       where relid = 'ingest.message_ids'::regclass`,
    );
    return rows[0]?.read ?? Number.NaN;
  };
  await database.owner.query('set plan_cache_mode = force_generic_plan');
  const before = await read();
  await firstEvents(projectId, [newId(), newId()], ['m-1-1', 'm-2-2']);
  expect((await read()) - before).toBeLessThanOrEqual(2);
});
