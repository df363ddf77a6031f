import { beforeAll, describe, expect, test } from 'vitest';
import { toCursor } from '../../src/base/page.ts';
import { TimelineEntry } from '../../src/profiles/schema.ts';
import { expectRefusal, testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const api = testApi(database);

const MINUTE_MS = 60_000;
const NOON = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS - 60 * MINUTE_MS;
const EVENTS = 260;
/** Seven events share each moment, some of them a millisecond from the next: what paging by time alone gets wrong. */
const momentOf = (at: number): string =>
  new Date(NOON + Math.floor(at / 7) * (at % 2 === 0 ? 1 : 1_000)).toISOString();

const get = (path: string, key = api.project.server_key) => api.call('GET', path, { key });
const timeline = (query = '', id = 'external_id:ann') => get(`/v1/profiles/${id}/events${query}`);
const post = async (events: object[]) => {
  for (let from = 0; from < events.length; from += 50) {
    const body = { events: events.slice(from, from + 50) };
    const { status } = await api.call('POST', '/v1/events/batch', {
      key: api.project.server_key,
      body,
    });
    expect(status).toBe(202);
  }
  await api.processEvents();
};

beforeAll(() =>
  post([
    ...Array.from({ length: EVENTS }, (_, at) => ({
      event: 'counted',
      external_id: 'ann',
      properties: { at },
      occurred_at: momentOf(at),
    })),
    { event: 'counted', external_id: 'bob', anonymous_id: 'anon-1' },
    { event: 'counted', anonymous_id: 'anon-1', properties: { at: 1 } },
  ]),
);

/** Every page after another; answers all entries. */
const walk = async (limit: number, from = ''): Promise<TimelineEntry[]> => {
  const entries: TimelineEntry[] = [];
  for (let cursor: string | null = from; cursor !== null;) {
    const { status, body } = await timeline(
      `?limit=${limit}${cursor === '' ? '' : `&cursor=${cursor}`}`,
    );
    expect(status).toBe(200);
    expect(body.items.length).toBeLessThanOrEqual(limit);
    entries.push(...body.items);
    cursor = body.next_cursor;
  }
  return entries;
};
const positions = (entries: TimelineEntry[]) =>
  entries.map(({ occurred_at, id }) => `${occurred_at} ${id}`);

describe('200', () => {
  test('an entry is the event as it was accepted, in the documented shape', async () => {
    const { body } = await timeline('', 'external_id:bob');
    const [entry, ...more] = body.items.map((item: unknown) => TimelineEntry.parse(item));
    expect(more).toEqual([]);
    expect(entry).toMatchObject({
      event: 'counted',
      external_id: 'bob',
      anonymous_id: 'anon-1',
      properties: {},
      source: 'server',
    });
    expect(entry.occurred_at).toBe(entry.received_at);
  });

  test('an event with both identifiers belongs to the external one', async () => {
    const found = await get('/v1/profiles?anonymous_id=anon-1');
    const { body } = await timeline('', found.body.items[0].id);
    expect(body.items.map(({ properties }: TimelineEntry) => properties)).toEqual([{ at: 1 }]);
  });

  test.each([1, 7, 50, 64, 200])(
    'pages of %i neither skip nor repeat, though moments are equal',
    async (limit) => {
      const entries = await walk(limit);
      expect(new Set(entries.map(({ properties }) => properties['at'])).size).toBe(EVENTS);
      expect(entries).toHaveLength(EVENTS);
      expect(positions(entries)).toEqual(positions(entries).toSorted().toReversed());
    },
  );

  test('what arrives while somebody pages neither shifts nor repeats what is left', async () => {
    const first = await timeline('?limit=100');
    await post([
      { event: 'counted', external_id: 'ann', occurred_at: new Date(Date.now()).toISOString() },
    ]);
    const rest = await walk(100, first.body.next_cursor);
    const ats = [...first.body.items, ...rest].map(
      ({ properties }: TimelineEntry) => properties['at'],
    );
    expect(new Set(ats).size).toBe(EVENTS);
    expect(ats).toHaveLength(EVENTS);
    await database.owner.query(
      "delete from ingest.events where external_id = 'ann' and properties = '{}'",
    );
  });

  test('without a limit there are fifty', async () => {
    const { body } = await timeline();
    expect(body.items).toHaveLength(50);
  });

  test('the last page says so, also when it is full', async () => {
    const { body } = await timeline('?limit=200');
    const last = await timeline(`?limit=60&cursor=${body.next_cursor}`);
    expect(last.body.items).toHaveLength(60);
    expect(last.body.next_cursor).toBeNull();
  });

  test('the profile can be named by its id', async () => {
    const { body } = await get('/v1/profiles/external_id:ann');
    expect((await timeline('?limit=3', body.id)).body).toEqual((await timeline('?limit=3')).body);
  });
});

describe('400 invalid_request', () => {
  test('a limit outside 1 to 200, or that is no whole number', async () => {
    for (const limit of [
      '0',
      '-1',
      '201',
      '1e9',
      'abc',
      '',
      '1.5',
      'NaN',
      'Infinity',
      '1,2',
      '1%00',
    ]) {
      const issues = expectRefusal(await timeline(`?limit=${limit}`), 'invalid_request');
      expect(issues.map(({ path }) => path)).toEqual(['/limit']);
    }
  });

  test('a cursor that this list did not give', async () => {
    const id = '01890000-0000-7000-8000-000000000000';
    const at = new Date().toISOString();
    const cursors = [
      '',
      'x',
      '!!!',
      'a'.repeat(5_000),
      'null',
      Buffer.from('{').toString('base64url'),
      ...[[], [at], [at, 'x'], ['x', id], [id], [id, at], [at, id, id], [at, 'a'.repeat(43)]].map(
        toCursor,
      ),
      ...[null, {}, 1, 'a', [1, 2], [null, null]].map((value) =>
        Buffer.from(JSON.stringify(value)).toString('base64url'),
      ),
    ];
    for (const cursor of cursors) {
      const issues = expectRefusal(await timeline(`?cursor=${cursor}`), 'invalid_request');
      expect(issues.map(({ path }) => path)).toEqual(['/cursor']);
    }
  });

  test('a cursor of this list is none of the others', async () => {
    const { body } = await timeline('?limit=1');
    for (const path of ['/v1/sends', '/v1/suppressions'])
      expectRefusal(await get(`${path}?cursor=${body.next_cursor}`), 'invalid_request');
  });

  test('a parameter that is not one, or not any more than once', async () => {
    for (const query of ['?page=1', '?limit=1&limit=2', '?external_id=ann'])
      expectRefusal(await timeline(query), 'invalid_request');
  });
});

test('404 not_found: a timeline of nobody', async () => {
  for (const id of ['external_id:nobody', 'x', '01890000-0000-7000-8000-000000000000'])
    expectRefusal(await timeline('', id), 'not_found');
});

test('200: event, after and before narrow the timeline', async () => {
  await post([
    { event: 'something_else', external_id: 'carol' },
    { event: 'counted', external_id: 'carol' },
  ]);
  const { status, body } = await timeline('?event=counted', 'external_id:carol');
  expect(status).toBe(200);
  expect(body.items.map(({ event }: TimelineEntry) => event)).toEqual(['counted']);
});
