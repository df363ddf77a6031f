import { afterAll, describe, expect, test } from 'vitest';
import { NOBODY } from '../../../src/ingest/schema.ts';
import { expectRefusal, testApi } from '../../support/api.ts';
import { testDatabase } from '../../support/database.ts';

const database = testDatabase();
const api = testApi(database);

const post = (body: unknown, key = api.project.server_key) =>
  api.call('POST', '/v1/events', { key, body });
const good = { event: 'user_signed_up', external_id: 'ann' };

/** What is wrong with an event, which otherwise would be good. */
const issuesOf = async (members: object) =>
  expectRefusal(await post({ ...good, ...members }), 'invalid_request');
const pathsOf = async (members: object) => [
  ...new Set((await issuesOf(members)).map(({ path }) => path)),
];

afterAll(async () => {
  const { rows } = await database.owner.query(
    'select from ingest.events union all select from ingest.message_ids union all select from ingest.pending',
  );
  expect(rows, 'a refused event leaves nothing behind').toEqual([]);
});

describe('event', () => {
  test.each([
    ['Signed Up', 'signed_up'],
    ['signedUp', 'signed_up'],
    ['SIGNED_UP', 'signed_up'],
    ['signed-up', 'signed_up'],
    ['signed__up', 'signed_up'],
    ['_signed_up_', 'signed_up'],
    ['signed.up!', 'signed_up'],
    ['2signed_up', 'signed_up'],
    ['signed_up\n', 'signed_up'],
    ['Ünterschrieben', 'unterschrieben'],
    ['a\u0000b', 'a_b'],
  ])('400 invalid_request: %j is not snake_case; %j is proposed', async (event, proposed) => {
    expect(await issuesOf({ event })).toEqual([
      { path: '/event', message: `must be snake_case: try "${proposed}"` },
    ]);
  });

  test('400 invalid_request: a name of which nothing is left has an example instead', async () => {
    for (const event of ['', '_', '123', '日本語', '\ud800', '   '])
      expect(await issuesOf({ event })).toEqual([
        { path: '/event', message: 'must be snake_case, such as signed_up' },
      ]);
  });

  test('400 invalid_request: what is proposed would be accepted', async () => {
    for (const event of ['A b'.repeat(33), `a${'-'.repeat(98)}b`, 'aB'.repeat(50)]) {
      const [issue] = await issuesOf({ event });
      const [, proposed = ''] = /try "(.*)"/.exec(issue?.message ?? '') ?? [];
      expect(proposed).toMatch(/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/);
      expect(proposed.length).toBeLessThanOrEqual(100);
    }
  });

  test('400 invalid_request: missing, of another type, or too long', async () => {
    for (const event of [undefined, null, 1, true, [], {}, ['a']])
      expect(await pathsOf({ event })).toEqual(['/event']);
    expect(await pathsOf({ event: 'x'.repeat(101) })).toEqual(['/event']);
    expect(await pathsOf({ event: 'A'.repeat(1_000_000) })).toContain('/event');
  });
});

describe.each(['external_id', 'anonymous_id'])('%s', (member) => {
  const pointer = [`/${member}`];

  test('400 invalid_request: values that never name a person, in any case', async () => {
    const documented = 'null undefined none nil anonymous guest unknown 0 -1 nan true false'.split(
      ' ',
    );
    const all = [
      ...documented,
      '[object Object]',
      '00000000-0000-0000-0000-000000000000',
      ...NOBODY,
    ];
    for (const value of all)
      for (const spelling of [value, value.toUpperCase(), ` ${value} `])
        expect(await pathsOf({ [member]: spelling })).toEqual(pointer);
  });

  test('400 invalid_request: empty, too long, of another type, or what cannot be stored', async () => {
    const wrong = ['', 'x'.repeat(256), null, 1, true, {}, [], 'a\u0000b', '\ud800', 'a\udfffb'];
    for (const value of wrong) expect(await pathsOf({ [member]: value })).toEqual(pointer);
  });
});

test('400 invalid_request: an event names somebody', async () => {
  expect(await issuesOf({ external_id: undefined })).toEqual([
    { path: '', message: 'external_id or anonymous_id is required' },
  ]);
});

describe('properties', () => {
  const at = async (properties: unknown) => pathsOf({ properties });

  test('400 invalid_request: an object and nothing else', async () => {
    for (const properties of [null, 1, 'a', true, [], [1]])
      expect(await at(properties)).toEqual(['/properties']);
  });

  test('400 invalid_request: nothing nested, no null, and every wrong one is named', async () => {
    expect(await at({ a: null, b: {}, c: [], fine: 1, 'd/e~f': [null] })).toEqual([
      '/properties/a',
      '/properties/b',
      '/properties/c',
      '/properties/d~1e~0f',
    ]);
  });

  test('400 invalid_request: numbers that would not come back as they went', async () => {
    for (const text of ['1e400', '-1e400', '9007199254740992', '-9007199254740992', '1e21']) {
      const body = `{"event":"a","external_id":"b","properties":{"n":${text}}}`;
      const issues = expectRefusal(await post(body), 'invalid_request');
      expect(issues.map(({ path }) => path)).toEqual(['/properties/n']);
    }
  });

  test('400 invalid_request: texts that cannot be stored, as value and as key', async () => {
    for (const text of ['\u0000', 'a\u0000', '\ud800', '\udc00\ud800']) {
      expect(await at({ a: text })).toEqual(['/properties/a']);
      expect(await at({ [text]: 1 })).toHaveLength(1);
    }
  });

  test('400 invalid_request: one past each bound', async () => {
    const many = Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`k${index}`, 1]));
    expect(await at(many)).toEqual(['/properties']);
    expect(await at({ a: 'v'.repeat(8 * 1024 + 1) })).toEqual(['/properties/a']);
    expect(await at({ a: '€'.repeat(2_731) })).toEqual(['/properties/a']);
    expect(await at({ ['k'.repeat(256)]: 1 })).toHaveLength(1);
    expect(await at({ '': 1 })).toEqual(['/properties/']);
  });
});

describe('occurred_at', () => {
  const MINUTE_MS = 60_000;
  const DAY_MS = 24 * 60 * MINUTE_MS;
  const at = (time: number, key = api.project.server_key) =>
    post({ ...good, occurred_at: new Date(time).toISOString() }, key);

  test('400 occurred_at_out_of_range: before the timeline, or more than a day ahead', async () => {
    const start = new Date();
    start.setUTCMonth(start.getUTCMonth() - 24);
    for (const time of [start.getTime() - MINUTE_MS, Date.now() + DAY_MS + MINUTE_MS, 0]) {
      const issues = expectRefusal(await at(time), 'occurred_at_out_of_range');
      expect(issues.map(({ path }) => path)).toEqual(['/occurred_at']);
    }
  });

  test('400 occurred_at_out_of_range: a publishable key reaches thirty days back', async () => {
    const time = Date.now() - 30 * DAY_MS - MINUTE_MS;
    expectRefusal(await at(time, api.project.publishable_key), 'occurred_at_out_of_range');
  });

  test('400 occurred_at_out_of_range: the ends of the calendar', async () => {
    for (const occurred_at of ['0000-01-01T00:00:00Z', '9999-12-31T23:59:59-23:59'])
      expectRefusal(await post({ ...good, occurred_at }), 'occurred_at_out_of_range');
  });

  test('400 invalid_request: what is not an RFC 3339 timestamp with offset', async () => {
    const wrong = [
      null,
      0,
      1_795_000_000_000,
      true,
      {},
      '',
      'now',
      'yesterday',
      '2026-11-20',
      '1795000000',
      '2026-11-20T12:00:00',
      '2026-11-20 12:00:00Z',
      '2026-11-20T12:00:00+0100',
      '2026-11-20T12:00Z+01:00',
      '2026-02-30T12:00:00Z',
      '2026-13-01T12:00:00Z',
      '2026-11-20T25:00:00Z',
      '2026-11-20T12:60:00Z',
      '2026-11-20T12:00:00+24:00',
      '+002026-11-20T12:00:00Z',
      '2026-W47-5T12:00:00Z',
      '2026-11-20T12:00:00Z\n',
    ];
    for (const occurred_at of wrong)
      expect(await pathsOf({ occurred_at }), JSON.stringify(occurred_at)).toEqual(['/occurred_at']);
  });
});

test('400 invalid_request: message_id is a text of 1 to 255 characters that can be stored', async () => {
  for (const message_id of ['', 'x'.repeat(256), null, 1, {}, 'a\u0000', '\ud800'])
    expect(await pathsOf({ message_id })).toEqual(['/message_id']);
});

test('400 invalid_request: an unknown member is a typing error, and each is named', async () => {
  expect(await pathsOf({ propertes: {}, userId: 'a', 'a/b': 1 })).toEqual([
    '/propertes',
    '/userId',
    '/a~1b',
  ]);
  expect(await pathsOf({ ['\u0000']: 1 })).toHaveLength(1);
  const body = '{"event":"a","external_id":"b","__proto__":{"external_id":"c"}}';
  expectRefusal(await post(body), 'invalid_request');
});

test('400 invalid_request: a batch is not an event', async () => {
  const issues = expectRefusal(await post({ events: [good] }), 'invalid_request');
  expect(issues.map(({ path }) => path)).toContain('/events');
});

test('400 invalid_request: an event of one byte more than 32 KiB', async () => {
  const full = 'v'.repeat(8_000);
  const event = { ...good, properties: { a: full, b: full, c: full, d: full, e: '' } };
  event.properties.e = 'v'.repeat(32 * 1024 + 1 - JSON.stringify(event).length);
  const issues = expectRefusal(await post(event), 'invalid_request');
  expect(issues.map(({ path }) => path)).toEqual(['']);
});

test('400 invalid_request: everything that is wrong is said at once, within bounds', async () => {
  const issues = await issuesOf({ event: 'A', external_id: '', properties: { a: null }, x: 1 });
  expect(issues.map(({ path }) => path).toSorted()).toEqual([
    '/event',
    '/external_id',
    '/properties/a',
    '/x',
  ]);
  const many = Object.fromEntries(Array.from({ length: 40_000 }, (_, index) => [`k${index}`, 1]));
  expect(await issuesOf(many)).toHaveLength(100);
});
