// An erased device is gone from the events of others, which only remember it.
import { expect, test } from 'vitest';
import { ERASE_EVENTS_MAX } from '../../src/ingest/erase.ts';
import { claimFlushes, deleteFlushes } from '../../src/ingest/flush_queries.ts';
import { countErased, seeEvents } from '../../src/profiles/profiles.ts';
import { untilWaiting } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';
import { findRemains } from '../support/remains.ts';
import { openErasable, unique } from './erasable.ts';

const FLUSHES = 10;
const database = testDatabase();

const devicesOf = async (projectId: string) => {
  const { rows } = await database.owner.query<{ device: string | null }>(
    `select anonymous_id as device from ingest.events where project_id = $1 order by event_id`,
    [projectId],
  );
  return rows.map(({ device }) => device);
};

test('an erased device is gone from the events of others, whether they were processed by then or not', async () => {
  const { projectId, track, work, ask, run, count } = openErasable(database);
  const [device, kept] = [unique('device'), unique('device')];
  await track(
    { anonymous_id: device },
    { external_id: 'bob', anonymous_id: device },
    { external_id: 'bob', anonymous_id: kept },
  );
  await work();
  await track({ external_id: 'bob', anonymous_id: device });
  const erasureId = await ask(device, 'anonymous');
  await track({ external_id: 'eve', anonymous_id: device });
  await work();
  await track({ external_id: 'bob', anonymous_id: device });
  await run(erasureId);
  expect(await devicesOf(projectId)).toEqual([null, kept, null, null, null]);
  await work();
  expect(await findRemains(database.owner, [device])).toEqual([]);
  expect(await count('ingest.devices')).toBe(1);

  // Who comes back with it afterwards is somebody new.
  await track({ external_id: 'bob', anonymous_id: device });
  await work();
  expect(await count('ingest.devices')).toBe(2);
  await run(await ask(device, 'anonymous'));
  expect(await findRemains(database.owner, [device])).toEqual([]);
});

test('whoever processed a device’s events before it was asked for is waited for', async () => {
  const { projectId, within, track, work, ask, run, count } = openErasable(database);
  const device = unique('device');
  const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();
  await track(
    { anonymous_id: device, occurred_at: hoursAgo(3) },
    { anonymous_id: device },
    { external_id: 'bob', occurred_at: hoursAgo(3) },
    { external_id: 'bob' },
  );
  await work();
  // It moves nobody's times, and so holds nobody's row.
  await track({ external_id: 'bob', anonymous_id: device, occurred_at: hoursAgo(2) });
  const [held, seen] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const working = within(async (scope) => {
    const { flushIds } = await claimFlushes(scope, FLUSHES);
    await seeEvents(scope, flushIds, await countErased(scope));
    await deleteFlushes(scope, flushIds);
    seen.resolve();
    await held.promise;
  });
  await seen.promise;
  const erasing = run(await ask(device, 'anonymous'));
  await untilWaiting(database);
  held.resolve();
  await Promise.all([working, erasing]);
  expect(await devicesOf(projectId)).toEqual([null, null, null]);
  expect(await count('ingest.devices')).toBe(0);
  expect(await findRemains(database.owner, [device])).toEqual([]);
});

test('more events of others than one transaction looks at lose an erased device', async () => {
  const { projectId, track, work, ask, run } = openErasable(database);
  const device = unique('device');
  await track({ external_id: 'bob', anonymous_id: device }, { anonymous_id: device });
  await work();
  await database.owner.query(
    `insert into ingest.events (project_id, event_id, occurred_at, received_at, name, external_id, anonymous_id, source)
    select $1, gen_random_uuid(), now() - make_interval(mins => at / 3), now(), 'seen', 'bob', $3, 'server'
    from generate_series(1, $2::int) as at`,
    [projectId, ERASE_EVENTS_MAX * 2, device],
  );
  await run(await ask(device, 'anonymous'));
  expect(await findRemains(database.owner, [device])).toEqual([]);
});
