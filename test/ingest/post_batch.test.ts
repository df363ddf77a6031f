import { describe, expect, test } from 'vitest';
import { JSON_VALUES_MAX } from '../../src/base/bodies/bodies.ts';
import { Resources } from '../../src/base/resources.ts';
import { openApi } from '../../src/http/api.ts';
import { expectRefusal, testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const api = testApi(database);

const PATH = '/v1/events/batch';
const post = (body: unknown, key = api.project.server_key) => api.call('POST', PATH, { key, body });
const made = (count: number, members: (at: number) => object = () => ({})) =>
  Array.from({ length: count }, (_, at) => ({
    event: 'made',
    external_id: `person-${at}`,
    ...members(at),
  }));

const count = async (): Promise<Record<string, number>> => {
  const { rows } = await database.owner.query(`
    select (select count(*)::int from ingest.events) as events,
      (select count(*)::int from ingest.message_ids) as message_ids,
      (select count(*)::int from ingest.pending) as pending
  `);
  return rows[0];
};
/** Sends what shall be refused, and sees that nothing of it is stored. */
const refused = async (body: unknown, name: Parameters<typeof expectRefusal>[1]) => {
  const before = await count();
  const issues = expectRefusal(await post(body), name);
  expect(await count()).toEqual(before);
  return issues.map(({ path }) => path);
};

describe('202', () => {
  test('one event, and as many as a batch holds, answered in the order they were sent', async () => {
    for (const key of [api.project.publishable_key, api.project.server_key])
      for (const size of [1, 50]) {
        const { status, body } = await post({ events: made(size) }, key);
        expect(status).toBe(202);
        expect(body).toMatchObject({ accepted: size, duplicates: 0 });
        const { rows } = await database.owner.query(
          `select external_id from ingest.events
           join unnest($1::uuid[]) with ordinality as sent (event_id, at) using (event_id)
           order by at`,
          [body.event_ids],
        );
        expect(rows.map(({ external_id }) => external_id)).toEqual(
          made(size).map(({ external_id }) => external_id),
        );
      }
  });

  test('a batch is one note of work', async () => {
    const before = await count();
    await post({ events: made(50) });
    expect(await count()).toMatchObject({ pending: (before['pending'] ?? 0) + 1 });
  });

  test('a message id twice in one batch is one event, answered twice', async () => {
    const events = made(4, (at) => ({ message_id: `twice-${at % 2}` }));
    const { status, body } = await post({ events });
    expect(status).toBe(202);
    expect(body).toMatchObject({ accepted: 2, duplicates: 2 });
    const [a, b, c, d] = body.event_ids;
    expect([c, d]).toEqual([a, b]);
    const { rows } = await database.owner.query(
      'select external_id from ingest.events where event_id = any ($1) order by 1',
      [body.event_ids],
    );
    expect(rows.map(({ external_id }) => external_id)).toEqual(['person-0', 'person-1']);
  });

  test('the same batch again changes nothing, and is answered with the same ids', async () => {
    const events = made(50, (at) => ({ message_id: `again-${at}` }));
    const first = await post({ events });
    const before = await count();
    const second = await post({ events });
    expect(second.status).toBe(202);
    expect(second.body).toEqual({ accepted: 0, duplicates: 50, event_ids: first.body.event_ids });
    expect(await count()).toEqual(before);
  });

  test('a batch of which a part is known stores the rest', async () => {
    const first = await post({ events: made(3, (at) => ({ message_id: `part-${at}` })) });
    const { body } = await post({ events: made(5, (at) => ({ message_id: `part-${at}` })) });
    expect(body).toMatchObject({ accepted: 2, duplicates: 3 });
    expect(body.event_ids.slice(0, 3)).toEqual(first.body.event_ids);
  });

  test('batches that meet in two processes, in opposite orders, store each message once', async () => {
    const deps = { ...database.deps, resources: new Resources() };
    const twin = await openApi(deps, { isDraining: false }, true);
    const urls = [api.url, `http://127.0.0.1:${twin.port}`];
    for (let round = 0; round < 10; round += 1) {
      const events = made(50, (at) => ({ message_id: `meet-${round}-${at}` }));
      const answers = await Promise.all(
        urls.map(async (url, side) => {
          const response = await fetch(url + PATH, {
            method: 'POST',
            headers: {
              'content-type': 'application/json',
              authorization: `Bearer ${api.project.server_key}`,
            },
            body: JSON.stringify({ events: side === 0 ? events : events.toReversed() }),
          });
          expect(response.status).toBe(202);
          return (await response.json()) as { accepted: number; event_ids: string[] };
        }),
      );
      expect(answers.reduce((sum, { accepted }) => sum + accepted, 0)).toBe(50);
      expect(answers[1]?.event_ids.toReversed()).toEqual(answers[0]?.event_ids);
    }
    await twin.close();
    await deps.resources.close();
  });

  test('requests that share a flush are each answered with their own events', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, at) => post({ events: made(at + 1) })),
    );
    for (const [at, { status, body }] of answers.entries()) {
      expect(status).toBe(202);
      expect(body.event_ids).toHaveLength(at + 1);
    }
    expect(new Set(answers.flatMap(({ body }) => body.event_ids)).size).toBe(210);
  });

  test('sent_at corrects a clock that is wrong by more than five minutes', async () => {
    const HOUR_MS = 3_600_000;
    const now = Date.now();
    const occurred_at = new Date(now - HOUR_MS - 60_000).toISOString();
    const { status, body } = await post({
      sent_at: new Date(now - HOUR_MS).toISOString(),
      events: made(1, () => ({ occurred_at })),
    });
    expect(status).toBe(202);
    const { rows } = await database.owner.query(
      'select occurred_at from ingest.events where event_id = $1',
      [body.event_ids[0]],
    );
    expect(Math.abs(rows[0].occurred_at.getTime() - (now - 60_000))).toBeLessThan(10_000);
  });
});

describe('400', () => {
  test('invalid_request: no event, and one more than a batch holds', async () => {
    for (const size of [0, 51])
      expect(await refused({ events: made(size) }, 'invalid_request')).toEqual(['/events']);
  });

  test('invalid_request: every bad event is named where it stands, and none is stored', async () => {
    const events = made(50, (at) => ({ message_id: `bad-${at}` })) as object[];
    events[3] = { event: 'made', external_id: 'ann', properties: { a: null } };
    events[7] = { event: 'Not Snake', external_id: 'ann' };
    events[20] = { event: 'made' };
    events[49] = null as never;
    expect(await refused({ events }, 'invalid_request')).toEqual([
      '/events/3/properties/a',
      '/events/7/event',
      '/events/20',
      '/events/49',
    ]);
  });

  test('occurred_at_out_of_range: every such event is named, and none is stored', async () => {
    const events = made(5, (at) => ({
      message_id: `late-${at}`,
      ...(at % 2 === 1 ? { occurred_at: '2001-01-01T00:00:00Z' } : {}),
    }));
    expect(await refused({ events }, 'occurred_at_out_of_range')).toEqual([
      '/events/1/occurred_at',
      '/events/3/occurred_at',
    ]);
  });

  test('invalid_request: the events are a list, and nothing unknown stands beside it', async () => {
    for (const body of [{}, { events: null }, { events: {} }, { events: 'a' }])
      expect(await refused(body, 'invalid_request')).toEqual(['/events']);
    expect(await refused({ events: made(1), batch: 1 }, 'invalid_request')).toEqual(['/batch']);
    expect(await refused(made(1), 'invalid_request')).toEqual(['']);
  });

  test('invalid_request: a list of as many things as a body may hold costs little and says little', async () => {
    for (const item of ['0', '[]', '{}', 'null', '""']) {
      const times = JSON_VALUES_MAX - 2;
      const body = `{"events":[${`${item},`.repeat(times - 1)}${item}]}`;
      expect(await refused(body, 'invalid_request')).toContain('/events');
    }
  });

  test('invalid_request: at most a hundred issues are listed', async () => {
    const wrong = made(50, () => ({ event: 'A', external_id: '', x: 1, properties: 1 }));
    expect(await refused({ events: wrong }, 'invalid_request')).toHaveLength(100);
  });

  test('invalid_request: one event past 32 KiB among good ones', async () => {
    const large = 'v'.repeat(8_000);
    const events = made(3, (at) =>
      at === 1
        ? { properties: Object.fromEntries(Array.from('abcde', (key) => [key, large])) }
        : {},
    );
    expect(await refused({ events }, 'invalid_request')).toEqual(['/events/1']);
  });
});

test('413 body_too_large: 50 events of 32 KiB are more than a request holds', async () => {
  const large = 'v'.repeat(8_000);
  const properties = { a: large, b: large, c: large, d: large };
  await refused({ events: made(50, () => ({ properties })) }, 'body_too_large');
});

test('202: a request of exactly 1 MiB', async () => {
  const body = JSON.stringify({ events: made(1) }).padEnd(1024 * 1024);
  expect((await post(body)).status).toBe(202);
  await refused(`${body} `, 'body_too_large');
});
