// Whatever becomes of requests: every event arrives exactly once, and what cannot arrive is said.
import { beforeEach, describe, expect, test } from 'vitest';
import { createProject } from '../../src/projects/projects.ts';
import type { Trunkline } from '../../src/sdk/server/server.ts';
import type { WireEvent } from '../../src/sdk/server/server.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { faultyApi } from '../support/faulty_api.ts';
import type { Fault } from '../support/faulty_api.ts';
import { caught, eventsOf, newClient } from './server_told.ts';

const database = testDatabase();
const api = testApi(database);
const way = faultyApi(() => api.url);

beforeEach(async () => {
  api.project = await createProject(database.deps, 'sdk');
  way.seen.length = 0;
  way.decide(() => 'pass');
});

const COUNT = 120;
const trackMany = (client: Trunkline, count = COUNT) => {
  for (let n = 0; n < count; n += 1)
    client.track('step_taken', { userId: `u${n % 7}`, properties: { n } });
};
const numbersOf = async () =>
  (await eventsOf(database, api)).map(({ properties }) => Number(properties['n']));
const upTo = (count: number) => Array.from({ length: count }, (_, n) => n);

/** Each once, and those of one person in their order. */
const expectOnceInOrder = async (count = COUNT) => {
  const stored = await numbersOf();
  expect(stored.toSorted((a, b) => a - b)).toEqual(upTo(count));
  for (const person of upTo(7)) {
    const own = stored.filter((n) => n % 7 === person);
    expect(own).toEqual(own.toSorted((a, b) => a - b));
  }
};

/** The first so many requests fare so, the others well. */
const first = (count: number, fault: Fault) => {
  let asked = 0;
  way.decide(() => ((asked += 1) <= count ? fault : 'pass'));
};

describe('every event arrives exactly once', () => {
  test.each<[string, number, Fault]>([
    ['a storm of 500', 12, { status: 500, body: '{"error":"internal_error"}' }],
    ['502 of a proxy', 3, { status: 502, body: '<html>' }],
    ['503 and 408', 2, { status: 408 }],
    ['connections that are lost before', 5, 'cut_request'],
    ['answers that are cut in the middle', 5, 'cut_answer'],
    ['answers that are lost', 5, 'lose_answer'],
  ])('after %s', async (_what, count, fault) => {
    const { client, told } = newClient(api, { apiHost: way.url });
    first(count, fault);
    trackMany(client);
    await client.close();
    expect(told).toEqual([]);
    expect(client.pending).toBe(0);
    await expectOnceInOrder();
  });

  test('after an answer that never comes: it is waited for so long, then asked again', async () => {
    const { client } = newClient(api, { apiHost: way.url, requestTimeoutMs: 100 });
    first(2, 'hold');
    trackMany(client);
    await client.close();
    await expectOnceInOrder();
  });

  test('after 429: Retry-After is waited for, with one request at a time until one is taken', async () => {
    const { client } = newClient(api, { apiHost: way.url });
    first(1, { status: 429, headers: { 'retry-after': '1' } });
    trackMany(client, 10);
    await client.close();
    await expectOnceInOrder(10);
    const [refused, taken] = way.seen;
    expect(refused?.fault).toMatchObject({ status: 429 });
    expect((taken?.at ?? 0) - (refused?.at ?? 0)).toBeGreaterThanOrEqual(990);
  });

  test('the same message ids are sent each time', async () => {
    const { client } = newClient(api, { apiHost: way.url });
    first(2, 'lose_answer');
    trackMany(client, 5);
    await client.close();
    const ids = way.seen.map(({ body }) =>
      (body as { events: WireEvent[] }).events.map(({ message_id }) => message_id),
    );
    expect(ids.length).toBe(3);
    expect(new Set(ids.map(String)).size).toBe(1);
    expect(await eventsOf(database, api)).toHaveLength(5);
  });

  test('after a network that was dead for a while, which stops nobody from tracking', async () => {
    const { client } = newClient(api, { apiHost: way.url });
    way.decide(() => 'cut_request');
    trackMany(client);
    await expect.poll(() => way.seen.length).toBeGreaterThan(5);
    const late = await caught(() => client.flush({ timeoutMs: 50 }));
    expect(late.code).toBe('timed_out');
    expect(late.message).toMatch(/^120 calls still wait, .* The last try: fetch failed: /);
    expect(client.pending).toBe(COUNT);
    way.decide(() => 'pass');
    await client.flush();
    await expectOnceInOrder();
  });
});

describe('waits between tries', () => {
  test('grow, are random below their bound, and have one', async () => {
    const { client } = newClient(api, { apiHost: way.url, retryBaseMs: 20, retryMaxMs: 60 });
    way.decide(() => ({ status: 500 }));
    trackMany(client, 1);
    await expect.poll(() => way.seen.length).toBeGreaterThan(15);
    const times = way.seen.map(({ at }) => at);
    const waits = times.slice(1).map((at, n) => at - (times[n] ?? 0));
    expect(new Set(waits).size).toBeGreaterThan(3);
    // Each is below its bound, but for what the machine takes over a request.
    expect(waits.filter((ms) => ms < 60 + 250).length).toBeGreaterThan(waits.length / 2);
  });
});

describe('close', () => {
  test('rejects with what an outage kept it from sending; sent again, each is stored once', async () => {
    const { client } = newClient(api, { apiHost: way.url });
    let asked = 0;
    way.decide(() => ((asked += 1) === 1 ? 'lose_answer' : 'cut_request'));
    trackMany(client, 3);
    await client.flush({ timeoutMs: 0 }).catch(() => {});
    await expect.poll(numbersOf).toHaveLength(3);
    client.identify({ userId: 'ann', traits: { plan: 'pro' } });
    client.track('step_taken', { userId: 'ann', properties: { n: 3 } });
    const error = await caught(() => client.close({ timeoutMs: 100 }));
    expect(error.code).toBe('not_sent');
    const { unsent } = error;
    expect(unsent.map(({ kind }) => kind)).toEqual([
      'track',
      'track',
      'track',
      'identify',
      'track',
    ]);

    const { client: next } = newClient(api);
    for (const call of unsent)
      if (call.kind === 'track') {
        const { event, external_id: userId, message_id: messageId, properties } = call.body;
        next.track(event, { userId, messageId, properties });
      }
    await next.close();
    expect((await numbersOf()).toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3]);
  });

  test('ends what is under way: nothing more is asked', async () => {
    const { client } = newClient(api, { apiHost: way.url });
    way.decide(() => 'hold');
    trackMany(client, 1);
    await expect
      .poll(async () => {
        await client.flush({ timeoutMs: 0 }).catch(() => {});
        return way.seen.length;
      })
      .toBe(1);
    await caught(() => client.close({ timeoutMs: 20 }));
    way.decide(() => 'pass');
    expect(way.seen).toHaveLength(1);
    expect(client.pending).toBe(1);
  });
});
