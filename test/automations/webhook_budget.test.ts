// How many calls of an endpoint a web page can cause: so many an hour, and the rest waits.
import { beforeEach, expect, test } from 'vitest';
import {
  BROWSER_CALLS_PER_HOUR_MAX,
  ENDPOINT_CALLS_MAX,
  ENDPOINT_CALLS_OF_PAGES_MAX,
} from '../../src/automations/call_limits.ts';
import { claimCall } from '../../src/automations/call_queries.ts';
import { inProject } from '../../src/base/db.ts';
import { newEvent } from '../ingest/some_events.ts';
import { testDatabase } from '../support/database.ts';
import { workOn } from '../support/work_on.ts';
import { endpointWorlds } from './with_endpoint.ts';

const database = testDatabase();
const { sink, world } = endpointWorlds(database);
beforeEach(() => world.live());

const happen = async (source: 'server' | 'browser', external_id: string): Promise<void> => {
  const key_kind = source === 'server' ? 'server' : 'publishable';
  const event = { name: 'trial_started', properties: '{}', external_id, source, key_kind } as const;
  await world.flush(newEvent(event));
  await workOn(database, world.projectId);
  await world.work();
};
/** As if so many calls of the endpoint had been made within the hour that ends in so many seconds. */
const used = (count: number, secondsLeft = 1_800) =>
  database.owner.query(
    `insert into base.rate_limit_counters (limit_name, counter_key, used, window_ends_at)
     values ('browser_calls', $1, $2, now() + make_interval(secs => $3))
     on conflict (limit_name, counter_key) do update
     set used = excluded.used, window_ends_at = excluded.window_ends_at`,
    [world.endpointId, count, secondsLeft],
  );

test('attack: a page calls an endpoint without end; at the bound a call is made, one past it waits', async () => {
  await used(BROWSER_CALLS_PER_HOUR_MAX - 1);
  await happen('browser', 'ann');
  await happen('browser', 'ben');
  while (await world.call());
  expect(sink.requests).toHaveLength(1);
  const calls = await world.select(
    'status, reason, extract(epoch from retry_at - now())::int as seconds',
    'automations.calls',
  );
  expect(calls).toEqual([
    { status: 'delivered', reason: null, seconds: null },
    { status: 'waiting', reason: 'browser_limit', seconds: expect.any(Number) },
  ]);
  // In the next hour, and not all at its beginning.
  expect(calls[1].seconds).toBeGreaterThanOrEqual(1_795);
  expect(calls[1].seconds).toBeLessThanOrEqual(3_600);

  await used(BROWSER_CALLS_PER_HOUR_MAX, 0);
  await world.passRetry();
  while (await world.call());
  expect(sink.requests).toHaveLength(2);
});

test('a call that a server causes is made, whatever pages have used up', async () => {
  await used(BROWSER_CALLS_PER_HOUR_MAX);
  await happen('browser', 'ann');
  await happen('server', 'ben');
  while (await world.call());
  expect(sink.requests).toHaveLength(1);
  const [request] = sink.requests;
  expect(JSON.parse(request?.body.toString() ?? '').data.person.external_id).toBe('ben');
});

/** Claims the next call as a lane does, and leaves it under way. Returns whose run it is of. */
const claimNext = () =>
  inProject(database.deps, world.projectId, async (scope) => {
    const claimed = await claimCall(scope, world.endpointId);
    return claimed && claimed.source;
  });

test('attack: calls of pages that are under way leave one lane to calls of servers, and one more waits', async () => {
  for (let at = 0; at <= ENDPOINT_CALLS_OF_PAGES_MAX; at += 1)
    await happen('browser', `page-${at}`);
  for (let at = 0; at < ENDPOINT_CALLS_OF_PAGES_MAX; at += 1)
    expect(await claimNext()).toBe('browser');
  expect(await claimNext()).toBe(null);
  await happen('server', 'ben');
  expect(await claimNext()).toBe('server');
  expect(await claimNext()).toBe(null);
  await database.owner.query(
    `update automations.calls set status = 'delivered' where call_id = (
      select call_id from automations.calls where status = 'calling' and is_of_page limit 1)`,
  );
  expect(await claimNext()).toBe('browser');
});

test('lanes that claim at the same time claim no more calls of pages than that', async () => {
  for (let at = 0; at < 2 * ENDPOINT_CALLS_MAX; at += 1) await happen('browser', `page-${at}`);
  const claimed = await Promise.all(Array.from({ length: ENDPOINT_CALLS_MAX }, claimNext));
  expect(claimed.filter((source) => source !== null)).toHaveLength(ENDPOINT_CALLS_OF_PAGES_MAX);
});

test('attack: calls of servers come before those of pages that waited longer', async () => {
  for (let at = 0; at < 30; at += 1) await happen('browser', `page-${at}`);
  for (let at = 0; at < 30; at += 1) await happen('server', `server-${at}`);
  const claimed: (string | null)[] = [];
  for (let at = 0; at < 30; at += 1) {
    claimed.push(await claimNext());
    await database.owner.query(
      `update automations.calls set status = 'delivered' where status = 'calling'`,
    );
  }
  // By chance three in four: fewer than 8 of 30 come once in ten million runs.
  expect(claimed.filter((source) => source === 'server').length).toBeGreaterThanOrEqual(8);
  expect(claimed).not.toContain(null);
});
