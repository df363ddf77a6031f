// Requests are charged for the work in them, before any of it is done.
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Resources } from '../../src/base/resources.ts';
import { BYTES_PER_UNIT, TRAITS_PER_UNIT, UNITS } from '../../src/base/work_units.ts';
import { openApi } from '../../src/http/api.ts';
import type { Listening } from '../../src/http/api.ts';
import { WINDOW_SECONDS } from '../../src/http/limits.ts';
import { createProject } from '../../src/projects/projects.ts';
import type { NewProject } from '../../src/projects/projects.ts';
import { expectRefusal } from '../support/api.ts';
import type { Answer } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
/** A process counts the others of its database: here it is alone. */
const alone = testDatabase();

const PER_SECOND = { server: 200, publishable: 100, address: 60 };
const [SERVER, PUBLISHABLE, ADDRESS] = [
  PER_SECOND.server * WINDOW_SECONDS,
  PER_SECOND.publishable * WINDOW_SECONDS,
  PER_SECOND.address * WINDOW_SECONDS,
];

let tight: Listening;
const resources = new Resources();
beforeAll(async () => {
  const config = {
    ...database.deps.config,
    unitLimitServer: PER_SECOND.server,
    unitLimitPublishable: PER_SECOND.publishable,
    unitLimitAddress: PER_SECOND.address,
    trustedProxies: 1,
  };
  tight = await openApi({ ...database.deps, config, resources }, { isDraining: false }, true);
});
afterAll(async () => {
  await tight.close();
  await resources.close();
});

/** An address per test: they count apart. */
let own = '';
let tests = 0;
beforeEach(() => {
  tests += 1;
  own = `198.51.100.${tests}`;
});

type Sent = {
  key: string;
  body?: unknown;
  raw?: Uint8Array<ArrayBuffer> | string;
  address?: string;
  headers?: Record<string, string>;
};
const send = async (path: string, { key, body, raw, address, headers }: Sent): Promise<Answer> => {
  const isReading = body === undefined && raw === undefined;
  const response = await fetch(`http://127.0.0.1:${tight.port}${path}`, {
    method: isReading ? 'GET' : 'POST',
    headers: {
      'content-type': 'application/json',
      'x-forwarded-for': address ?? own,
      ...(key === '' ? {} : { authorization: `Bearer ${key}` }),
      ...headers,
    },
    ...(isReading ? {} : { body: raw ?? JSON.stringify(body) }),
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
};

/** What is left of a key's units after an answer. */
const leftOf = ({ headers }: Answer): number =>
  Number(/"key_units";r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1]);

const event = (at: number) => ({ event: 'page_viewed', anonymous_id: `device-${at}` });
const many = <T>(count: number, make: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => make(at));
const traits = (count: number) =>
  Object.fromEntries(many(count, (at) => [`trait_${at}`, at] as const));
const batch = (count: number) => ({ events: many(count, event) });
const segmentBatch = (count: number, withDevice = false) => ({
  batch: many(count, (at) => ({
    type: 'identify',
    userId: `user-${at}`,
    ...(withDevice ? { anonymousId: `device-${at}` } : {}),
  })),
});

const countStored = async ({ project_id }: NewProject) => {
  const { rows } = await database.owner.query(
    `select (select count(*)::int from ingest.events where project_id = $1) as events,
      (select count(*)::int from identity.identities where project_id = $1) as identities`,
    [project_id],
  );
  return rows[0];
};

describe('each request costs what its work costs', () => {
  test.each<[string, string, unknown, number]>([
    ['an event', '/v1/events', event(1), UNITS.event],
    ['a batch', '/v1/events/batch', batch(50), 50 * UNITS.event],
    ['an identify', '/v1/identify', { external_id: 'ann' }, UNITS.identify],
    [
      'an identify that links',
      '/v1/identify',
      { external_id: 'ann', anonymous_id: 'device' },
      UNITS.identify + UNITS.link,
    ],
    [
      'an identify with 9 traits',
      '/v1/identify',
      { external_id: 'ann', traits: traits(TRAITS_PER_UNIT - 1) },
      UNITS.identify,
    ],
    [
      'an identify with 10 traits',
      '/v1/identify',
      { external_id: 'ann', traits: traits(TRAITS_PER_UNIT) },
      UNITS.identify + 1,
    ],
    [
      'an identify with 256 traits',
      '/v1/identify',
      { external_id: 'ann', traits: traits(256) },
      UNITS.identify + 25,
    ],
    [
      'an alias',
      '/v1/identify/alias',
      { external_id: 'ann', anonymous_id: 'other' },
      UNITS.identify + UNITS.link,
    ],
    ['a call of Segment', '/segment/v1/track', { userId: 'ann', event: 'Made' }, UNITS.event],
    ['its identify', '/segment/v1/i', { userId: 'ann' }, UNITS.identify],
    [
      'its identify with 20 traits, of which 5 are in its context',
      '/segment/v1/i',
      { userId: 'ann', traits: traits(15), context: { traits: { a: 1, b: 1, c: 1, d: 1, e: 1 } } },
      UNITS.identify + 2,
    ],
    ['its identify of nobody', '/segment/v1/i', { anonymousId: 'device' }, UNITS.event],
    [
      'its alias',
      '/segment/v1/alias',
      { userId: 'ann', previousId: 'third' },
      UNITS.identify + UNITS.link,
    ],
    ['its batch', '/segment/v1/batch', segmentBatch(50), 50 * UNITS.identify],
    [
      'a call of a batch that is not taken',
      '/segment/v1/b',
      { batch: ['nonsense', { type: 'other' }] },
      2 * UNITS.event,
    ],
    [
      'an import',
      '/v1/suppression-imports',
      { csv: many(30, (at) => `ann${at}@example.com`).join('\n') },
      30 * UNITS.imported,
    ],
  ])('%s', async (_, path, body, units) => {
    const { server_key: key } = await createProject(database.deps, 'costs');
    const answer = await send(path, { key, body });
    expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
    expect(leftOf(answer)).toBe(SERVER - units);
  });

  test('a read, and a preview of a segment', async () => {
    const { server_key: key } = await createProject(database.deps, 'reads');
    expect(leftOf(await send('/v1/suppressions', { key }))).toBe(SERVER - UNITS.read);
    const definition = { where: { kind: 'subscribed' } };
    const preview = await send('/v1/segment-previews', { key, body: { definition } });
    expect(leftOf(preview)).toBe(SERVER - UNITS.read - UNITS.scan);
  });
});

describe('429 rate_limited', () => {
  test('a batch for which not all units are left is refused whole, and a smaller one still passes', async () => {
    const project = await createProject(database.deps, 'whole');
    const { publishable_key: key } = project;
    for (let at = 0; at < 11; at += 1)
      expect((await send('/v1/events/batch', { key, body: batch(50) })).status).toBe(202);
    expect((await send('/v1/events/batch', { key, body: batch(49) })).status).toBe(202);
    const refused = await send('/v1/events/batch', { key, body: batch(2) });
    expectRefusal(refused, 'rate_limited');
    const seconds = Number(refused.headers.get('retry-after'));
    expect(seconds).toBeGreaterThanOrEqual(1);
    expect(seconds).toBeLessThanOrEqual(WINDOW_SECONDS);
    expect(refused.headers.get('ratelimit')).toBe(`"address_units";r=0;t=${seconds}`);
    expect(refused.headers.get('ratelimit-policy')).toBe(
      `"address_units";q=${ADDRESS};w=${WINDOW_SECONDS}`,
    );
    expect(await countStored(project)).toEqual({ events: ADDRESS - 1, identities: 0 });
    expect((await send('/v1/events', { key, body: event(1) })).status).toBe(202);
    // Nothing is left: the next is refused before its body is read.
    expectRefusal(await send('/v1/events', { key, raw: '{' }), 'rate_limited');
  });

  test('a Segment batch of identifies is not one request: a publishable key has no units for many', async () => {
    const project = await createProject(database.deps, 'segment');
    const { publishable_key: key } = project;
    const identifies = PUBLISHABLE / UNITS.identify / 2;
    const post = (address: string) =>
      send('/segment/v1/batch', { key, body: segmentBatch(identifies), address });
    expect((await post('192.0.2.1')).status).toBe(200);
    expect((await post('192.0.2.2')).status).toBe(200);
    expectRefusal(await post('192.0.2.3'), 'rate_limited');
    expect(await countStored(project)).toEqual({ events: 0, identities: identifies });
  });

  test('a body that is refused is charged by its size', async () => {
    const { publishable_key: key } = await createProject(database.deps, 'refused');
    const bytes = 100 * BYTES_PER_UNIT;
    const bad = `{"event":"${'x'.repeat(bytes - 11)}`;
    const packed = new Uint8Array(gzipSync(bad));
    for (let at = 0; at < ADDRESS / 100 / 2; at += 1) {
      expectRefusal(await send('/v1/events', { key, raw: bad }), 'invalid_json');
      const headers = { 'content-encoding': 'gzip' };
      expectRefusal(await send('/segment/v1/track', { key, raw: packed, headers }), 'invalid_json');
    }
    expectRefusal(await send('/v1/events', { key, body: event(1) }), 'rate_limited');
    const other = await send('/v1/events', { key, body: event(1), address: '192.0.2.9' });
    expect(leftOf(other)).toBe(PUBLISHABLE - ADDRESS - 1);
  });

  test('a small body that is refused costs one unit', async () => {
    const { server_key: key } = await createProject(database.deps, 'small');
    expectRefusal(await send('/v1/events', { key, raw: '{' }), 'invalid_json');
    expectRefusal(await send('/v1/events', { key, body: {} }), 'invalid_request');
    expect(leftOf(await send('/v1/events', { key, body: event(1) }))).toBe(SERVER - 3);
  });
});

describe('a key in the body', () => {
  let one: Listening;
  const apart = new Resources();
  beforeAll(async () => {
    const config = { ...alone.deps.config, rateLimitAddress: 1 };
    const deps = { ...alone.deps, config, resources: apart };
    one = await openApi(deps, { isDraining: false }, true);
  });
  afterAll(async () => {
    await one.close();
    await apart.close();
  });

  test('429 rate_limited: the address is counted before the body is read, whatever key it holds', async () => {
    const { publishable_key: writeKey } = await createProject(alone.deps, 'write key');
    const post = async (body: object): Promise<Answer> => {
      const response = await fetch(`http://127.0.0.1:${one.port}/segment/v1/t`, {
        method: 'POST',
        body: JSON.stringify(body),
      });
      return { status: response.status, headers: response.headers, body: await response.json() };
    };
    const call = { userId: 'ann', event: 'Made' };
    for (let at = 0; at < WINDOW_SECONDS - 1; at += 1)
      expect(await post({ ...call, writeKey })).toMatchObject({ status: 200 });
    expectRefusal(await post({ ...call, writeKey: 'none' }), 'invalid_token');
    expectRefusal(await post({ ...call, writeKey }), 'rate_limited');
    expectRefusal(await post({ ...call, writeKey: 'none' }), 'rate_limited');
  });
});

describe('413 request_too_costly', () => {
  test('a batch that costs more than a window says what one may cost, costs nothing, and passes in parts', async () => {
    const { publishable_key: key } = await createProject(database.deps, 'costly');
    const most = ADDRESS / (UNITS.identify + UNITS.link);
    const refused = await send('/segment/v1/batch', { key, body: segmentBatch(most + 1, true) });
    expectRefusal(refused, 'request_too_costly');
    expect(refused.headers.has('retry-after')).toBe(false);
    expect(refused.body.detail).toContain(`${ADDRESS} units`);
    const parts = await send('/segment/v1/batch', { key, body: segmentBatch(most, true) });
    expect(parts.status).toBe(200);
  });
});

test('a webhook is charged for its notices', async () => {
  const { project_id, hook_token: key } = await createProject(database.deps, 'notices');
  const notices = (count: number) => ({
    events: many(count, (at) => ({
      event: 'delivered',
      recipient: `a${at}@people.test`,
      event_id: `${count} ${at}`,
    })),
  });
  const post = (count: number) =>
    send(`/v1/webhooks/smtp/${project_id}`, { key, body: notices(count) });
  const most = SERVER / UNITS.notice;
  expect((await post(most - 1)).status).toBe(200);
  expectRefusal(await post(2), 'rate_limited');
  expect((await post(1)).status).toBe(200);
});
