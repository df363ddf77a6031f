// The server SDK against the service itself: what is told arrives, where it belongs.
import { beforeEach, describe, expect, test } from 'vitest';
import { createProject } from '../../src/projects/projects.ts';
import type { EventInput } from '../../src/ingest/schema.ts';
import type { AliasInput, IdentifyInput } from '../../src/profiles/schema.ts';
import { BATCH_EVENTS_MAX as SERVER_BATCH_EVENTS_MAX } from '../../src/ingest/schema.ts';
import { BATCH_EVENTS_MAX } from '../../src/sdk/server/options.ts';
import type { WireAlias, WireEvent, WireIdentify } from '../../src/sdk/server/server.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { faultyApi } from '../support/faulty_api.ts';
import { eventsOf, newClient } from './server_told.ts';

const database = testDatabase();
const api = testApi(database);
const way = faultyApi(() => api.url);

beforeEach(async () => {
  api.project = await createProject(database.deps, 'sdk');
  way.seen.length = 0;
});

const read = async (path: string) =>
  (await api.call('GET', path, { key: api.project.server_key })).body;

describe('what is sent', () => {
  test('is of the types that the service parses, in batches as large as it takes', () => {
    const sent = {} as { event: WireEvent; identify: WireIdentify; alias: WireAlias };
    // The compiler says it: each is assignable.
    const parsed: {
      event: Omit<EventInput, 'properties'>;
      identify: Omit<IdentifyInput, 'traits'>;
      alias: AliasInput;
    } = sent;
    expect(parsed).toBe(sent);
    expect(BATCH_EVENTS_MAX).toBe(SERVER_BATCH_EVENTS_MAX);
  });

  test('arrives with the names, people, properties and times that were given', async () => {
    const { client, told } = newClient(api);
    const occurredAt = new Date(Date.now() - 3_600_000);
    client.track('user_signed_up', {
      userId: 'ann',
      properties: { plan: 'pro', seats: 3 },
      occurredAt,
    });
    client.track('page_viewed', { anonymousId: 'device-7' });
    await client.close();
    expect(told).toEqual([]);
    expect(await eventsOf(database, api)).toMatchObject([
      {
        name: 'user_signed_up',
        external_id: 'ann',
        anonymous_id: null,
        properties: { plan: 'pro', seats: 3 },
        occurred_at: occurredAt,
      },
      { name: 'page_viewed', external_id: null, anonymous_id: 'device-7', properties: {} },
    ]);
  });

  test('identify stitches what the device did before, and sets traits', async () => {
    const { client } = newClient(api);
    client.track('page_viewed', { anonymousId: 'device-7' });
    client.identify({
      anonymousId: 'device-7',
      userId: 'ann',
      traits: { email: 'ann@example.com' },
    });
    client.track('user_signed_up', { userId: 'ann' });
    await client.flush();
    await api.processEvents();
    const profile = await read('/v1/profiles/external_id:ann');
    expect(profile).toMatchObject({ email: 'ann@example.com', external_id: 'ann' });
    const { items } = await read('/v1/profiles/external_id:ann/events');
    expect(items.map(({ event }: { event: string }) => event).toSorted()).toEqual([
      'page_viewed',
      'user_signed_up',
    ]);
  });

  test('alias links at the word of a backend; a conflict is told and stops nothing', async () => {
    const { client, told } = newClient(api);
    client.alias({ anonymousId: 'device-7', userId: 'ann' });
    client.alias({ anonymousId: 'device-7', userId: 'ben' });
    client.track('order_completed', { userId: 'ben' });
    await client.flush();
    const { items } = await read('/v1/identity-links?status=active');
    expect(items).toMatchObject([
      { anonymous_id: 'device-7', external_id: 'ann', source: 'alias' },
    ]);
    expect(told).toMatchObject([{ code: 'refused', call: { kind: 'alias' } }]);
    expect(told[0]?.message).toContain('linked to another external_id');
    expect(await eventsOf(database, api)).toHaveLength(1);
  });

  test('what is changed after the call is not sent', async () => {
    const { client } = newClient(api);
    const properties = { plan: 'pro' };
    client.track('user_signed_up', { userId: 'ann', properties });
    properties.plan = 'changed';
    await client.flush();
    expect(await eventsOf(database, api)).toMatchObject([{ properties: { plan: 'pro' } }]);
  });
});

describe('requests', () => {
  test('hold at most 50 events, say when they were sent, and carry ids that never come twice', async () => {
    const { client } = newClient(api, { apiHost: way.url });
    for (let n = 0; n < 120; n += 1)
      client.track('step_taken', { userId: `u${n}`, properties: { n } });
    await client.flush();
    const batches = way.seen.map(({ body }) => body as { sent_at: string; events: WireEvent[] });
    // They go side by side: which comes to its end first is nobody's promise.
    const sizes = batches.map(({ events }) => events.length);
    expect(sizes.toSorted((a, b) => b - a)).toEqual([50, 50, 20]);
    const ids = batches.flatMap(({ events }) => events.map(({ message_id }) => message_id));
    expect(new Set(ids).size).toBe(120);
    for (const id of ids)
      expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
    for (const { sent_at } of batches)
      expect(Math.abs(Date.parse(sent_at) - Date.now())).toBeLessThan(60_000);
    expect(await eventsOf(database, api)).toHaveLength(120);
  });

  test('hold at most 1 MiB, however few events that is', async () => {
    const { client, told } = newClient(api, { apiHost: way.url });
    const properties = {
      a: 'x'.repeat(8_000),
      b: 'x'.repeat(8_000),
      c: 'ü'.repeat(4_000),
      d: 'x'.repeat(4_000),
    };
    for (let n = 0; n < 50; n += 1) client.track('step_taken', { userId: `u${n}`, properties });
    await client.flush();
    expect(told).toEqual([]);
    expect(way.seen.length).toBeGreaterThan(1);
    expect(await eventsOf(database, api)).toHaveLength(50);
  });

  test('begin as soon as enough events wait, and else after the interval', async () => {
    const { client } = newClient(api, {
      apiHost: way.url,
      flushSize: 2,
      flushIntervalMs: 3_600_000,
    });
    client.track('step_taken', { userId: 'ann' });
    expect(client.pending).toBe(1);
    client.track('step_taken', { userId: 'ann' });
    await expect.poll(() => client.pending).toBe(0);
    const { client: patient } = newClient(api, { apiHost: way.url, flushIntervalMs: 10 });
    patient.track('step_taken', { userId: 'ann' });
    await expect.poll(() => patient.pending).toBe(0);
    expect(await eventsOf(database, api)).toHaveLength(3);
  });

  test('about one person come after each other; those about others need not wait', async () => {
    const { client } = newClient(api, { apiHost: way.url });
    way.decide((path) =>
      path === '/v1/identify' ? { status: 503, headers: {}, body: '' } : 'pass',
    );
    client.identify({ userId: 'ann', anonymousId: 'device-7', traits: { plan: 'pro' } });
    client.track('user_signed_up', { userId: 'ann' });
    client.track('page_viewed', { anonymousId: 'device-7' });
    client.track('page_viewed', { userId: 'ben' });
    const flushed = client.flush();
    await expect.poll(() => eventsOf(database, api)).toMatchObject([{ external_id: 'ben' }]);
    way.decide(() => 'pass');
    await flushed;
    const paths = way.seen.filter(({ status }) => status !== null).map(({ path }) => path);
    expect(paths).toEqual(['/v1/events/batch', '/v1/identify', '/v1/events/batch']);
    expect((await eventsOf(database, api)).map(({ name }) => name)).toEqual([
      'page_viewed',
      'user_signed_up',
      'page_viewed',
    ]);
  });
});
