import { expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import type { EventRow } from '../../src/ingest/events.ts';
import { listConflicts } from '../../src/ingest/ingest.ts';
import { acceptEvents } from '../../src/ingest/queries.ts';
import { testDatabase } from '../support/database.ts';
import { newEvent, YEAR } from './some_events.ts';

const database = testDatabase();

const accept = (projectId: string, ...events: EventRow[]) =>
  acceptEvents(database.deps.db, projectId, newId(), events);
const conflictsOf = (projectId: string, limit = 50) =>
  inProject(database.deps, projectId, (scope) => listConflicts(scope, { limit, before: null }));

const FIRST = {
  message_id: 'm',
  name: 'order_completed',
  external_id: 'ann',
  properties: '{"total": 10, "plan": "pro"}',
};

test('the same event again is a duplicate and no conflict', async () => {
  const projectId = newId();
  const { stored_ids } = await accept(projectId, newEvent(FIRST));
  for (const again of [
    FIRST,
    { ...FIRST, properties: '{"plan":"pro","total":10.0}' },
    { ...FIRST, occurred_at: `${YEAR}-01-02T00:00:00Z` },
  ])
    expect(await accept(projectId, newEvent(again))).toEqual({ stored_ids, duplicates: [true] });
  expect(await conflictsOf(projectId)).toEqual([]);
});

test('the same message id with another name, person or properties is flagged, each time', async () => {
  const others = [
    { name: 'order_refunded' },
    { external_id: 'bob' },
    { external_id: null, anonymous_id: 'ann' },
    { anonymous_id: 'browser' },
    { properties: '{"total": 11, "plan": "pro"}' },
    { properties: '{}' },
  ];
  for (const other of others) {
    const projectId = newId();
    const { stored_ids } = await accept(projectId, newEvent(FIRST));
    for (const times of [1, 2]) {
      const again = newEvent({ ...FIRST, ...other });
      expect(await accept(projectId, again)).toEqual({ stored_ids, duplicates: [true] });
      expect(await conflictsOf(projectId), JSON.stringify(other)).toEqual([
        {
          event_id: stored_ids[0],
          occurred_at: expect.any(Date),
          conflicts: times,
          conflicted_at: expect.any(Date),
        },
      ]);
    }
  }
});

test('a flush that brings a message id twice, as two events, flags it', async () => {
  const projectId = newId();
  const names = ['order_completed', 'order_refunded', 'order_completed'];
  const events = names.map((name) => newEvent({ ...FIRST, name }));
  const { duplicates } = await accept(projectId, ...events);
  expect(duplicates).toEqual([false, true, true]);
  expect(await conflictsOf(projectId)).toMatchObject([
    { event_id: events[0]?.event_id, conflicts: 1 },
  ]);
});

test('only what conflicts is flagged, the last first, and a page ends where it should', async () => {
  const projectId = newId();
  const firsts = ['a', 'b', 'c', 'd'].map((message_id) => newEvent({ message_id }));
  const [a, , c, d] = firsts.map(({ event_id }) => event_id) as [string, string, string, string];
  await accept(projectId, ...firsts);
  await accept(projectId, newEvent({ message_id: 'c', name: 'other' }));
  await database.owner.query(
    `update ingest.message_ids set conflicted_at = conflicted_at - interval '1 second'
    where project_id = $1 and conflicted_at is not null`,
    [projectId],
  );
  await accept(
    projectId,
    ...['d', 'b', 'a'].map((message_id) =>
      newEvent({ message_id, name: message_id === 'b' ? 'user_signed_up' : 'other' }),
    ),
  );
  expect((await conflictsOf(projectId)).map(({ event_id }) => event_id)).toEqual([a, d, c]);
  const [last] = await conflictsOf(projectId, 1);
  const before = { conflictedAt: last?.conflicted_at as Date, eventId: a };
  const next = await inProject(database.deps, projectId, (scope) =>
    listConflicts(scope, { limit: 50, before }),
  );
  expect(next.map(({ event_id }) => event_id)).toEqual([d, c]);
  expect(await conflictsOf(newId())).toEqual([]);
});

test('an event that is kept no longer is not compared with', async () => {
  const projectId = newId();
  await accept(projectId, newEvent(FIRST));
  await database.owner.query('delete from ingest.events where project_id = $1', [projectId]);
  await accept(projectId, newEvent({ ...FIRST, name: 'other' }));
  expect(await conflictsOf(projectId)).toEqual([]);
});

test('flushes that conflict in opposite orders neither deadlock nor miscount', async () => {
  const projectId = newId();
  const ids = Array.from({ length: 60 }, (_, at) => `m${at}`);
  await accept(projectId, ...ids.map((message_id) => newEvent({ message_id })));
  const FLUSHES = 8;
  await Promise.all(
    Array.from({ length: FLUSHES }, (_, flush) => {
      const order = flush % 2 === 0 ? ids : ids.toReversed();
      const news = [newEvent({ message_id: `x${flush}` }), newEvent({ message_id: `y${-flush}` })];
      return accept(
        projectId,
        ...order.map((message_id) => newEvent({ message_id, name: 'other' })),
        ...news,
      );
    }),
  );
  const counts = (await conflictsOf(projectId, 100)).map(({ conflicts }) => conflicts);
  expect(counts).toEqual(ids.map(() => FLUSHES));
});
