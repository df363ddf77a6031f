// How many calls of an endpoint a web page can cause: so many an hour, and the rest waits.
import { beforeEach, expect, test } from 'vitest';
import { BROWSER_CALLS_PER_HOUR_MAX } from '../../src/automations/call_limits.ts';
import { newEvent } from '../ingest/some_events.ts';
import { testDatabase } from '../support/database.ts';
import { httpsSink } from '../support/https_sink.ts';
import { workOn } from '../support/work_on.ts';
import { withEndpoint } from './with_endpoint.ts';

const database = testDatabase();
const sink = httpsSink({ usually: () => ({ status: 204 }) });
let world: Awaited<ReturnType<typeof withEndpoint>>;
beforeEach(async () => {
  sink.reset();
  world = await withEndpoint(database, sink);
  await world.live();
});

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
