import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import type { EventRow } from '../../src/ingest/events.ts';
import { acceptEvents } from '../../src/ingest/queries.ts';
import { seeEvents } from '../../src/profiles/profiles.ts';
import { inProject } from '../../src/base/db.ts';
import { connectTo, untilWaiting } from '../base/connections.ts';
import { newEvent, YEAR } from '../ingest/some_events.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();

const at = (day: number) => `${YEAR}-01-0${day}T00:00:00Z`;
const flush = async (projectId: string, ...events: EventRow[]): Promise<string> => {
  const flushId = newId();
  await acceptEvents(database.deps.db, projectId, flushId, events);
  return flushId;
};
const seen = async (projectId: string, flushIds: string[]) => {
  const client = await connectTo(database, projectId);
  const { rows } = await client.query(
    'select * from profiles.see_events(project_id => $1, flush_ids => $2)',
    [projectId, flushIds],
  );
  return rows;
};
const unknown = (kind: string, value: string, first: number, last: number) => ({
  kind,
  value,
  first_seen_at: new Date(at(first)),
  last_seen_at: new Date(at(last)),
});
const left = (kind: string, value: string, first: number, last: number) => ({
  ...unknown(kind, value, first, last),
  observed_at: null,
  is_known: false,
  lag_ms: expect.any(String) as string,
});
const identitiesOf = async (projectId: string) =>
  (
    await database.owner.query(
      `select kind, value, first_seen_at, last_seen_at from identity.identities
       where project_id = $1 order by kind, value`,
      [projectId],
    )
  ).rows;

test('everybody the events name is unknown once, with the first and last time, in the order of locks', async () => {
  const projectId = newId();
  const flushId = await flush(
    projectId,
    newEvent({ external_id: 'bob', anonymous_id: 'x', occurred_at: at(2) }),
    newEvent({ external_id: 'bob', occurred_at: at(1) }),
    newEvent({ external_id: null, anonymous_id: 'x', occurred_at: at(3) }),
    newEvent({ external_id: 'x', occurred_at: at(4) }),
  );
  expect(await seen(projectId, [flushId])).toEqual([
    left('anonymous', 'x', 2, 3),
    left('external', 'bob', 1, 2),
    left('external', 'x', 4, 4),
  ]);
  expect(await seen(newId(), [flushId])).toEqual([]);
});

test('who is known moves, who is not is made with a profile, and seeing twice changes nothing', async () => {
  const projectId = newId();
  const see = (flushId: string) =>
    inProject(database.deps, projectId, (scope) => seeEvents(scope, [flushId]));
  await see(await flush(projectId, newEvent({ external_id: 'ann', occurred_at: at(3) })));
  const second = await flush(
    projectId,
    newEvent({ external_id: 'ann', occurred_at: at(1) }),
    newEvent({ external_id: 'bob', occurred_at: at(2) }),
  );
  await see(second);
  await see(second);
  expect(await identitiesOf(projectId)).toEqual([
    unknown('external', 'ann', 1, 3),
    unknown('external', 'bob', 2, 2),
  ]);
  const { rows } = await database.owner.query(
    `select from identity.identities as known join profiles.profiles as profile using (project_id, profile_id)
     where known.project_id = $1`,
    [projectId],
  );
  expect(rows).toHaveLength(2);
});

const pairsOf = async (projectId: string) =>
  (
    await database.owner.query<{ pair: string }>(
      `select anonymous_id || ' ' || external_id as pair from ingest.devices where project_id = $1 order by pair`,
      [projectId],
    )
  ).rows.map(({ pair }) => pair);

test('known people are remembered with the devices they were seen with, once', async () => {
  const projectId = newId();
  const flushId = await flush(
    projectId,
    newEvent({ external_id: 'bob', anonymous_id: 'x' }),
    newEvent({ external_id: 'bob', anonymous_id: 'x' }),
    newEvent({ external_id: 'ann', anonymous_id: 'x' }),
    newEvent({ external_id: 'ann' }),
    newEvent({ external_id: null, anonymous_id: 'y' }),
  );
  await seen(projectId, [flushId]);
  await seen(projectId, [flushId]);
  expect(await pairsOf(projectId)).toEqual(['x ann', 'x bob']);
});

test('of whom is being erased nothing is remembered, and others’ events lose their devices', async () => {
  const projectId = newId();
  const first = await flush(
    projectId,
    newEvent({ external_id: 'ann' }),
    newEvent({ external_id: null, anonymous_id: 'x' }),
  );
  await inProject(database.deps, projectId, (scope) => seeEvents(scope, [first]));
  await database.owner.query(
    `update identity.identities set erasure_id = gen_random_uuid() where project_id = $1`,
    [projectId],
  );
  const second = await flush(
    projectId,
    newEvent({ external_id: 'bob', anonymous_id: 'x' }),
    newEvent({ external_id: 'ann', anonymous_id: 'z' }),
    newEvent({ external_id: 'bob', anonymous_id: 'z' }),
    newEvent({ external_id: null, anonymous_id: 'x' }),
  );
  await seen(projectId, [second]);
  expect(await pairsOf(projectId)).toEqual(['z bob']);
  const { rows } = await database.owner.query<{ anonymous_id: string | null }>(
    `select anonymous_id from ingest.events where project_id = $1 order by event_id offset 2`,
    [projectId],
  );
  expect(rows.map((row) => row.anonymous_id)).toEqual([null, 'z', 'z', 'x']);
});

test('a known person who comes after a new device moves as well, with what was observed of both', async () => {
  const projectId = newId();
  const see = (flushId: string) =>
    inProject(database.deps, projectId, (scope) => seeEvents(scope, [flushId]));
  await see(await flush(projectId, newEvent({ external_id: 'ann', occurred_at: at(3) })));
  const observed = `${YEAR}-02-01T00:00:00Z`;
  await see(
    await flush(
      projectId,
      newEvent({ external_id: 'ann', anonymous_id: 'device', occurred_at: at(1) }),
      newEvent({ external_id: 'ann', occurred_at: at(5) }),
      newEvent({ external_id: 'ann', occurred_at: observed, source: 'system' }),
    ),
  );
  expect(await identitiesOf(projectId)).toEqual([
    unknown('anonymous', 'device', 1, 1),
    unknown('external', 'ann', 1, 5),
  ]);
  const { rows } = await database.owner.query(
    'select value, observed_at from identity.identities where project_id = $1 order by kind',
    [projectId],
  );
  expect(rows).toEqual([
    { value: 'device', observed_at: null },
    { value: 'ann', observed_at: new Date(observed) },
  ]);
});

test('events lock a new device before the known person after it, as an identify of both does', async () => {
  const projectId = newId();
  const see = (flushId: string) =>
    inProject(database.deps, projectId, (scope) => seeEvents(scope, [flushId]));
  await see(await flush(projectId, newEvent({ external_id: 'ann', occurred_at: at(3) })));
  const flushId = await flush(
    projectId,
    newEvent({ external_id: 'ann', anonymous_id: 'device', occurred_at: at(4) }),
  );
  const other = await connectTo(database, projectId);
  await other.query('begin');
  await other.query(
    `select from identity.see_identifiers(project_id => $1, identity_ids => array[$2::uuid],
      profile_ids => array[$2::uuid], kinds => array['anonymous'], identifiers => array['device'],
      first_seen_ats => array[$3::timestamptz], last_seen_ats => array[$3::timestamptz])`,
    [projectId, newId(), at(2)],
  );
  const seeing = see(flushId);
  await untilWaiting(database);
  // The events wait for the device, and hold nothing that comes after it.
  await other.query(
    `select from identity.identities where project_id = $1 and kind = 'external' and value = 'ann'
    for no key update nowait`,
    [projectId],
  );
  await other.query('commit');
  await seeing;
  expect(await identitiesOf(projectId)).toEqual([
    unknown('anonymous', 'device', 2, 4),
    unknown('external', 'ann', 3, 4),
  ]);
});
