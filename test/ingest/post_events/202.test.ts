import { beforeAll, describe, expect, test } from 'vitest';
import { Resources } from '../../../src/base/resources.ts';
import { openApi } from '../../../src/http/api.ts';
import { EVENT_BYTES_MAX } from '../../../src/ingest/schema.ts';
import { createProject } from '../../../src/projects/projects.ts';
import { testApi } from '../../support/api.ts';
import { testDatabase } from '../../support/database.ts';

const database = testDatabase();
const api = testApi(database);

let publishable: string;
let server: string;
beforeAll(() => {
  publishable = api.project.publishable_key;
  server = api.project.server_key;
});

const post = (body: unknown, key = server) => api.call('POST', '/v1/events', { key, body });
const stored = async (eventId: string) => {
  const { rows } = await database.owner.query('select * from ingest.events where event_id = $1', [
    eventId,
  ]);
  expect(rows).toHaveLength(1);
  return rows[0];
};
/** Sends an event and answers the row that it became. */
const accept = async (event: object, key = server) => {
  const { status, body } = await post(
    { event: 'user_signed_up', external_id: 'ann', ...event },
    key,
  );
  expect(body).toEqual({ accepted: 1, duplicates: 0, event_ids: [expect.any(String)] });
  expect(status).toBe(202);
  return stored(body.event_ids[0]);
};

test('202: an event is answered once it is in the timeline, with a note of its work', async () => {
  const row = await accept({ properties: { plan: 'pro' } });
  expect(row).toMatchObject({
    project_id: api.project.project_id,
    name: 'user_signed_up',
    external_id: 'ann',
    anonymous_id: null,
    properties: { plan: 'pro' },
  });
  const { rows } = await database.owner.query(
    'select from ingest.pending where $1 = any (event_ids)',
    [row.event_id],
  );
  expect(rows).toHaveLength(1);
});

test('202: an event remembers which kind of key brought it', async () => {
  expect(await accept({}, publishable)).toMatchObject({
    source: 'browser',
    key_kind: 'publishable',
  });
  expect(await accept({}, server)).toMatchObject({ source: 'server', key_kind: 'server' });
});

test('202: an event without a time occurred when it was received, by the clock of the database', async () => {
  const row = await accept({});
  expect(row.occurred_at).toEqual(row.received_at);
  expect(Math.abs(row.received_at.getTime() - Date.now())).toBeLessThan(10_000);
});

test('202: either identifier will do, and both are kept as they are', async () => {
  expect(await accept({ external_id: undefined, anonymous_id: 'anon-1' })).toMatchObject({
    external_id: null,
    anonymous_id: 'anon-1',
  });
  for (const id of [
    'a',
    'x'.repeat(255),
    '€'.repeat(255),
    ' padded ',
    'a/b:c%2F',
    '👩‍👩‍👧',
    '1',
    'nobody',
  ])
    expect(await accept({ external_id: id, anonymous_id: `${id}`.slice(0, 255) })).toMatchObject({
      external_id: id,
      anonymous_id: id,
    });
});

test('202: every name of the documented form, up to its bound', async () => {
  for (const event of ['a', 'a1', 'page_viewed', 'a_1_b', 'x'.repeat(100)])
    expect(await accept({ event })).toMatchObject({ name: event });
});

describe('properties', () => {
  test('202: are stored exactly', async () => {
    const properties = {
      text: 'Zoë “said” \\ "hi" \n\t 👍 \u2028 \u007f',
      empty: '',
      yes: true,
      no: false,
      zero: 0,
      tenth: 0.1,
      large: Number.MAX_SAFE_INTEGER,
      small: Number.MIN_SAFE_INTEGER,
      tiny: 5e-324,
      'a/b~c': 'pointer',
      ' ': 'space',
    };
    expect(await accept({ properties })).toMatchObject({ properties });
  });

  test('202: names that mean something to JavaScript mean nothing here', async () => {
    const body = `{"event":"a","external_id":"ann","properties":
      {"__proto__":"p","constructor":"c","prototype":"t","toString":"s","hasOwnProperty":"h"}}`;
    const answer = await post(body);
    expect(answer.status).toBe(202);
    const { properties } = await stored(answer.body.event_ids[0]);
    expect(Object.entries(properties).toSorted(([a], [b]) => (a < b ? -1 : 1))).toEqual([
      ['__proto__', 'p'],
      ['constructor', 'c'],
      ['hasOwnProperty', 'h'],
      ['prototype', 't'],
      ['toString', 's'],
    ]);
  });

  test('202: may be none, and as many and as large as documented', async () => {
    expect((await accept({})).properties).toEqual({});
    expect((await accept({ properties: {} })).properties).toEqual({});
    const many = Object.fromEntries(Array.from({ length: 64 }, (_, at) => [`k${at}`, at]));
    expect((await accept({ properties: many })).properties).toEqual(many);
    const large = { ['k'.repeat(255)]: 'v'.repeat(8 * 1024), b: '€'.repeat(2_730) };
    expect((await accept({ properties: large })).properties).toEqual(large);
  });

  test('202: an event of exactly 32 KiB', async () => {
    const full = 'v'.repeat(8_000);
    const event = {
      event: 'a',
      external_id: 'b',
      properties: { a: full, b: full, c: full, d: full, e: '' },
    };
    event.properties.e = 'v'.repeat(EVENT_BYTES_MAX - JSON.stringify(event).length);
    expect(JSON.stringify(event)).toHaveLength(32_768);
    expect((await post(event)).status).toBe(202);
  });
});

describe('occurred_at', () => {
  const MINUTE_MS = 60_000;
  const DAY_MS = 24 * 60 * MINUTE_MS;
  const at = (time: number) => new Date(time).toISOString();

  test('202: from the start of the timeline to a day ahead, for a server key', async () => {
    const start = new Date();
    start.setUTCMonth(start.getUTCMonth() - 24);
    for (const time of [start.getTime() + MINUTE_MS, Date.now() + DAY_MS - MINUTE_MS])
      expect((await accept({ occurred_at: at(time) })).occurred_at).toEqual(new Date(time));
  });

  test('202: thirty days back for a publishable key', async () => {
    const time = Date.now() - 30 * DAY_MS + MINUTE_MS;
    expect((await accept({ occurred_at: at(time) }, publishable)).occurred_at).toEqual(
      new Date(time),
    );
  });

  const second = Math.floor(Date.now() / 1_000) * 1_000;
  const withOffset = (minutes: number): string => {
    const sign = minutes < 0 ? '-' : '+';
    const two = (value: number) => String(Math.trunc(Math.abs(value))).padStart(2, '0');
    return `${at(second + minutes * MINUTE_MS).slice(0, 19)}${sign}${two(minutes / 60)}:${two(minutes % 60)}`;
  };

  test('202: any offset that people live by', async () => {
    for (const minutes of [0, 330, -210, -720, 840])
      expect((await accept({ occurred_at: withOffset(minutes) })).occurred_at).toEqual(
        new Date(second),
      );
  });

  test('202: any offset that RFC 3339 knows, though Postgres knows fewer', async () => {
    for (const minutes of [23 * 60 + 59, -(23 * 60 + 59)])
      expect((await accept({ occurred_at: withOffset(minutes) })).occurred_at).toEqual(
        new Date(second),
      );
  });

  test('202: milliseconds are kept', async () => {
    for (const digits of ['1', '123', '123456'])
      expect(
        (await accept({ occurred_at: `${at(second).slice(0, 19)}.${digits}Z` })).occurred_at,
      ).toEqual(new Date(second + Number(digits.padEnd(3, '0').slice(0, 3))));
  });

  test('202: any number of digits of a second, though Postgres takes fewer', async () => {
    await accept({ occurred_at: `${at(second).slice(0, 19)}.${'1'.repeat(200)}Z` });
  });
});

describe('message_id', () => {
  const send = (message_id: string, more: object = {}, key = server) =>
    post({ event: 'user_signed_up', external_id: 'ann', message_id, ...more }, key);

  test('202: a repeat is a duplicate, answered with the first id, whatever else it says', async () => {
    const first = await send('m-1');
    const repeats = [
      await send('m-1'),
      await send('m-1', { event: 'something_else', external_id: 'bob' }),
    ];
    for (const { status, body } of repeats) {
      expect(status).toBe(202);
      expect(body).toEqual({ accepted: 0, duplicates: 1, event_ids: first.body.event_ids });
    }
    await stored(first.body.event_ids[0]);
  });

  test('202: by the other kind of key the same id is another event', async () => {
    const [first, again] = [await send('m-3'), await send('m-3', {}, publishable)];
    expect(again.body).toMatchObject({ accepted: 1, duplicates: 0 });
    expect(again.body.event_ids).not.toEqual(first.body.event_ids);
    expect((await send('m-3', {}, publishable)).body).toEqual({
      accepted: 0,
      duplicates: 1,
      event_ids: again.body.event_ids,
    });
  });

  test('202: an event without one is never a duplicate', async () => {
    const [a, b] = [
      await post({ event: 'a', external_id: 'b' }),
      await post({ event: 'a', external_id: 'b' }),
    ];
    expect(a.body.event_ids).not.toEqual(b.body.event_ids);
  });

  test('202: of another project is another message', async () => {
    const other = await createProject(database.deps, 'other');
    const [mine, theirs] = [await send('m-2'), await send('m-2', {}, other.server_key)];
    expect(theirs.body).toMatchObject({ accepted: 1, duplicates: 0 });
    expect(theirs.body.event_ids).not.toEqual(mine.body.event_ids);
  });

  test('202: is compared as it is, up to its bound', async () => {
    for (const id of ['m', 'M', ' m', 'x'.repeat(255), '€'.repeat(255)])
      expect((await send(id)).body).toMatchObject({ accepted: 1 });
  });

  test('202: of two dozen requests at once, in two processes, one is the first', async () => {
    const deps = { ...database.deps, resources: new Resources() };
    const twin = await openApi(deps, { isDraining: false }, true);
    const body = JSON.stringify({ event: 'a', external_id: 'b', message_id: 'm-race' });
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${server}` };
    const urls = [api.url, `http://127.0.0.1:${twin.port}`];
    const answers = await Promise.all(
      Array.from({ length: 24 }, async (_, at) => {
        const response = await fetch(`${urls[at % 2]}/v1/events`, {
          method: 'POST',
          headers,
          body,
        });
        return (await response.json()) as { accepted: number; event_ids: string[] };
      }),
    );
    expect(answers.reduce((sum, { accepted }) => sum + accepted, 0)).toBe(1);
    expect(new Set(answers.flatMap(({ event_ids }) => event_ids)).size).toBe(1);
    await twin.close();
    await deps.resources.close();
  });
});
