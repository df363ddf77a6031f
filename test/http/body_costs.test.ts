// Bodies cost by their size, whatever they say, and are charged before they are parsed. One address has a bound of
// requests in progress.
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { bodiesInHandOf } from '../../src/base/bodies/bodies.ts';
import { Resources } from '../../src/base/resources.ts';
import { BYTES_PER_UNIT } from '../../src/base/work_units.ts';
import { openApi } from '../../src/http/api.ts';
import type { Listening } from '../../src/http/api.ts';
import { WINDOW_SECONDS } from '../../src/http/limits.ts';
import { createProject } from '../../src/projects/projects.ts';
import type { NewProject } from '../../src/projects/projects.ts';
import { expectRefusal } from '../support/api.ts';
import type { Answer } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';

/** A process counts the others of its database: here it is alone. */
const database = testDatabase();
const PER_SECOND = { server: 200, publishable: 150, address: 100 };
const [SERVER, ADDRESS] = [PER_SECOND.server * WINDOW_SECONDS, PER_SECOND.address * WINDOW_SECONDS];
const AT_ONCE = 4;
const KIB = 1024;

let api: Listening;
let project: NewProject;
const resources = new Resources();
const config = () => ({
  ...database.deps.config,
  unitLimitServer: PER_SECOND.server,
  unitLimitPublishable: PER_SECOND.publishable,
  unitLimitAddress: PER_SECOND.address,
  rateLimitAddress: AT_ONCE,
  trustedProxies: 1,
});
beforeAll(async () => {
  const deps = { ...database.deps, config: config(), resources };
  api = await openApi(deps, { isDraining: false }, true);
});
afterAll(async () => {
  await api.close();
  await resources.close();
});

/** An address and a project per test: they count apart. */
let own = '';
let tests = 0;
beforeEach(async () => {
  tests += 1;
  own = `198.51.100.${tests}`;
  project = await createProject(database.deps, 'costs');
});

type Sent = { key?: string | null; text: string; isPacked?: boolean; address?: string };
const send = async (path: string, { key, text, isPacked = false, address }: Sent) => {
  const token = key === undefined ? project.publishable_key : key;
  const response = await fetch(`http://127.0.0.1:${api.port}${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-forwarded-for': address ?? own,
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(isPacked ? { 'content-encoding': 'gzip' } : {}),
    },
    body: isPacked ? new Uint8Array(gzipSync(text)) : text,
  });
  return {
    status: response.status,
    headers: response.headers,
    body: await response.json(),
  } as Answer;
};

const leftOf = ({ headers }: Answer, policy: string): number =>
  Number(new RegExp(`"${policy}";r=(\\d+)`).exec(headers.get('ratelimit') ?? '')?.[1]);
const unitsOf = (text: string): number => Math.ceil(Buffer.byteLength(text) / BYTES_PER_UNIT);

const track = (more: object) => JSON.stringify({ userId: 'ann', event: 'Made', ...more });
const padded = (text: string, bytes: number) => text.padEnd(bytes);

describe('a request costs as much as its body is large', () => {
  test.each<[string, string, string, boolean]>([
    ['an event', '/v1/events', '{"event":"made","external_id":"ann"}', false],
    ['a call of Segment', '/segment/v1/track', track({}), false],
    ['a packed call of Segment', '/segment/v1/track', track({}), true],
  ])('%s, at each bound and one past it', async (_, path, text, isPacked) => {
    const { server_key: key } = project;
    let left = SERVER;
    for (const [bytes, units] of [
      [BYTES_PER_UNIT, 1],
      [BYTES_PER_UNIT + 1, 2],
      [10 * BYTES_PER_UNIT, 10],
      [10 * BYTES_PER_UNIT + 1, 11],
    ] as const) {
      const answer = await send(path, { key, text: padded(text, bytes), isPacked });
      expect(answer.status).toBeLessThan(300);
      left -= units;
      expect(leftOf(answer, 'key_units')).toBe(left);
    }
  });

  test('or as much as its work, where that is more', async () => {
    const { server_key: key } = project;
    const events = Array.from({ length: 50 }, () => ({ event: 'made', external_id: 'ann' }));
    const text = padded(JSON.stringify({ events }), 5 * BYTES_PER_UNIT);
    const answer = await send('/v1/events/batch', { key, text });
    expect(leftOf(answer, 'key_units')).toBe(SERVER - 50);
    const larger = padded(JSON.stringify({ events }), 60 * BYTES_PER_UNIT);
    expect(leftOf(await send('/v1/events/batch', { key, text: larger }), 'key_units')).toBe(
      SERVER - 110,
    );
  });

  test('to its key and to its address, with a key in its body, too', async () => {
    const { publishable_key: writeKey } = project;
    const text = padded(track({ writeKey }), 7 * BYTES_PER_UNIT);
    for (let at = 1; at <= 2; at += 1) {
      const answer = await send('/segment/v1/track', { key: null, text });
      expect(answer.status).toBe(200);
      expect(leftOf(answer, 'address_units')).toBe(ADDRESS - at * 7);
      expect(leftOf(answer, 'key_units')).toBe(PER_SECOND.publishable * WINDOW_SECONDS - at * 7);
    }
  });
});

/** What one address sent to keep a process busy. Each is about a megabyte, and was worth one unit, or none. */
const HOSTILE: [string, string, boolean][] = [
  ['a name of a million letters', track({ event: 'Aa'.repeat(500 * KIB) }), false],
  ['the same, packed', track({ event: 'Aa'.repeat(500 * KIB) }), true],
  ['a name of accents', track({ event: 'ǖ'.repeat(500 * KIB) }), true],
  ['a property of a million letters', track({ properties: { a: 'x'.repeat(1_000_000) } }), false],
  [
    '49,000 members of context',
    track({ context: Object.assign({}, Array(49_000).fill('context')) }),
    true,
  ],
  [
    'half a million levels',
    track({ properties: 'deep' }).replace('"deep"', '['.repeat(490_000) + ']'.repeat(490_000)),
    true,
  ],
];

describe.each(HOSTILE)('attack: %s', (_, text, isPacked) => {
  const units = unitsOf(text);
  const mostTaken = Math.floor(ADDRESS / units);

  test('from one address is worked on a few times; then it is refused before it is parsed', async () => {
    const answers: Answer[] = [];
    for (let at = 0; at < mostTaken + 3; at += 1)
      answers.push(await send('/segment/v1/track', { text, isPacked }));
    const refused = answers.map(({ status }) => status === 429);
    expect(refused.indexOf(true)).toBeGreaterThan(0);
    expect(refused.indexOf(true)).toBeLessThanOrEqual(mostTaken);
    expect(refused.slice(refused.indexOf(true)).every(Boolean)).toBe(true);
    const { server_key: key } = project;
    expect(
      (await send('/v1/events', { key, text: '{"event":"made","external_id":"a"}' })).status,
    ).toBe(202);
  });

  test('without a key costs the address as much', async () => {
    const statuses: number[] = [];
    for (let at = 0; at < mostTaken + 3; at += 1)
      statuses.push((await send('/segment/v1/track', { key: null, text, isPacked })).status);
    expect(statuses.slice(0, mostTaken)).toEqual(Array(mostTaken).fill(401));
    expect(statuses.slice(mostTaken)).toEqual(Array(3).fill(429));
    const other = await send('/segment/v1/track', { text: track({}), address: '203.0.113.1' });
    expect(other.status).toBe(200);
  });
});

test('429 rate_limited comes before 400 invalid_json: what has no units is not parsed', async () => {
  const broken = padded('{', 600 * BYTES_PER_UNIT - 1);
  expectRefusal(
    await send('/segment/v1/track', { text: broken, isPacked: true }),
    'body_too_large',
  );
  const half = padded('{', (ADDRESS / 5) * BYTES_PER_UNIT);
  for (let at = 0; at < 3; at += 1)
    expectRefusal(await send('/segment/v1/track', { text: half, isPacked: true }), 'invalid_json');
  expectRefusal(await send('/segment/v1/track', { text: half, isPacked: true }), 'rate_limited');
});

test('a packed body whose end lies about its size is unpacked up to the bound, and no further', async () => {
  const packed = gzipSync(track({}));
  const two = Buffer.concat([packed, gzipSync(padded('', 2_000))]);
  const post = async (body: Buffer) => {
    const response = await fetch(`http://127.0.0.1:${api.port}/segment/v1/track`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${project.server_key}`,
        'content-encoding': 'gzip',
        'x-forwarded-for': own,
      },
      body: new Uint8Array(body),
    });
    return response.status;
  };
  // Two members follow each other: the end says the size of the last.
  expect(await post(two)).toBe(200);
  expect(await post(Buffer.concat([two, gzipSync(padded('', 1024 * KIB))]))).toBe(413);
  const small = Buffer.from(packed);
  small.writeUInt32LE(1, small.length - 4);
  expect(await post(small)).toBe(400);
});

describe('requests of one address in progress', () => {
  afterEach(() => database.owner.query('rollback'));

  const identify = (key: string | undefined, address?: string) =>
    send('/v1/identify', {
      ...(key === undefined ? {} : { key }),
      text: '{"external_id":"ann","traits":{"a":1}}',
      ...(address === undefined ? {} : { address }),
    });

  test('429 rate_limited: as many as its rate allows are, one past it is refused before its body is read', async () => {
    await database.owner.query('begin; lock table profiles.traits in access exclusive mode');
    const held = Array.from({ length: AT_ONCE }, () => identify(undefined));
    const hand = bodiesInHandOf({ ...database.deps, config: config(), resources });
    await until('they wait', () => hand.heldBytes.strangers > 0);
    await until('all are in', async () => (await identify(undefined)).status === 429);
    const refused = await identify(undefined);
    expectRefusal(refused, 'rate_limited');
    expect([refused.body.detail, refused.headers.get('retry-after')]).toEqual([
      expect.stringContaining('in progress'),
      '1',
    ]);
    // Servers, and other addresses, have room.
    const others = [identify(project.server_key), identify(undefined, '203.0.113.2')];
    const { server_key: key } = project;
    expect(
      (await send('/v1/events', { key, text: '{"event":"a","external_id":"a"}' })).status,
    ).toBe(202);
    await database.owner.query('rollback');
    for (const { status } of await Promise.all([...held, ...others])) expect(status).toBe(202);
    expect(hand.heldBytes).toEqual({ all: 0, strangers: 0 });
    expect((await identify(undefined)).status).toBe(202);
  });
});
