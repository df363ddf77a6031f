import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openDb } from '../../src/base/db.ts';
import { KEPT_HOURS } from '../../src/base/idempotency.ts';
import { Resources } from '../../src/base/resources.ts';
import { runtimeUrl } from '../../src/base/roles.ts';
import { openApi } from '../../src/http/api.ts';
import type { Listening } from '../../src/http/api.ts';
import { createProject } from '../../src/projects/projects.ts';
import { untilWaiting } from '../base/connections.ts';
import { expectRefusal, testApi } from '../support/api.ts';
import type { Answer, Call } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const api = testApi(database);

const event = (given: object = {}) => ({ event: 'order_completed', external_id: 'ann', ...given });
const newKey = () => randomUUID();

const post = (path: string, key: string | null, call: Call = {}) =>
  api.call('POST', path, {
    key: api.project.server_key,
    body: event(),
    ...call,
    headers: { ...(key === null ? {} : { 'idempotency-key': key }), ...call.headers },
  });
const postEvent = (key: string | null, call?: Call) => post('/v1/events', key, call);
const isReplayed = ({ headers }: Answer) => headers.get('idempotency-replayed') === 'true';

const countEvents = async (name: string): Promise<number> => {
  const { rows } = await database.owner.query<{ count: number }>(
    'select count(*)::int as count from ingest.events where name = $1',
    [name],
  );
  return rows[0]?.count ?? -1;
};

describe('202', () => {
  test('the same request again is answered the same, and stored once', async () => {
    const body = event({ event: 'asked_twice' });
    const key = newKey();
    const first = await postEvent(key, { body });
    expect([first.status, isReplayed(first)]).toEqual([202, false]);
    for (let time = 0; time < 3; time += 1) {
      const again = await postEvent(key, { body });
      expect([again.status, isReplayed(again)]).toEqual([202, true]);
      expect(again.body).toEqual(first.body);
      expect(again.headers.get('content-type')).toBe(first.headers.get('content-type'));
      expect(again.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
    }
    expect(await countEvents('asked_twice')).toBe(1);
  });

  test('a batch too, with events that have message ids and events that have none', async () => {
    const events = [event({ event: 'batch_asked_twice', message_id: 'm' })].concat(
      Array.from({ length: 5 }, () => event({ event: 'batch_asked_twice' })),
    );
    const key = newKey();
    const first = await post('/v1/events/batch', key, { body: { events } });
    const again = await post('/v1/events/batch', key, { body: { events } });
    expect(first.body).toMatchObject({ accepted: 6, duplicates: 0 });
    expect(again.body).toEqual(first.body);
    expect(await countEvents('batch_asked_twice')).toBe(6);
  });

  test('without the header every request counts, and none is kept', async () => {
    const { rowCount: before } = await database.owner.query('select from http.idempotency_keys');
    const answers = await Promise.all(
      [1, 2].map(() => postEvent(null, { body: event({ event: 'without_key' }) })),
    );
    expect(answers.map(isReplayed)).toEqual([false, false]);
    expect(await countEvents('without_key')).toBe(2);
    const { rowCount: after } = await database.owner.query('select from http.idempotency_keys');
    expect(after).toBe(before);
  });

  test('a key counts within its project, its route and its kind of credential', async () => {
    const key = newKey();
    const other = await createProject(database.deps, 'other');
    const body = event({ event: 'counted_apart' });
    const answers = [
      await postEvent(key, { body }),
      await postEvent(key, { body, key: api.project.publishable_key }),
      await post('/v1/events/batch', key, { body: { events: [body] } }),
      await postEvent(key, { body, key: other.server_key }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202, 202]);
    expect(answers.map(isReplayed)).toEqual([false, false, false, false]);
    expect(await countEvents('counted_apart')).toBe(4);
  });

  test('a key may be any 1 to 255 visible ASCII characters', async () => {
    for (const key of ['!', '~', '"quoted"', 'k'.repeat(255), 'a,b;c=/?:@&+$#[]{}|\\^`<>'])
      expect((await postEvent(key)).status, key).toBe(202);
  });

  test('after a day the key is free again, and what it stored then is no duplicate', async () => {
    const key = newKey();
    const body = event({ event: 'asked_next_day' });
    const first = await postEvent(key, { body });
    await database.owner.query(
      'update http.idempotency_keys set created_at = created_at - make_interval(hours => $1)',
      [KEPT_HOURS],
    );
    const later = await postEvent(key, { body });
    expect(isReplayed(later)).toBe(false);
    expect(later.body).toMatchObject({ accepted: 1, duplicates: 0 });
    expect(later.body.event_ids).not.toEqual(first.body.event_ids);
    expect(await countEvents('asked_next_day')).toBe(2);
  });

  test('nothing of key, request or answer can be read from the table', async () => {
    const key = newKey();
    const { body } = await postEvent(key, { body: event({ external_id: 'read-me-if-you-can' }) });
    const { rows } = await database.owner.query<{ everything: string }>(
      `select string_agg(row_to_json(known)::text || encode(coalesce(answer, ''), 'escape'), '') as everything
      from http.idempotency_keys as known`,
    );
    const everything = rows[0]?.everything ?? '';
    expect(everything.length).toBeGreaterThan(100);
    for (const text of [key, 'read-me-if-you-can', body.event_ids[0], 'accepted'])
      expect(everything).not.toContain(text);
  });
});

describe('400 invalid_idempotency_key', () => {
  test('a key that is empty, too long, or has blanks in it', async () => {
    for (const key of ['', 'k'.repeat(256), 'a b', 'a\tb', 'ä', 'a, b'])
      expectRefusal(await postEvent(key), 'invalid_idempotency_key');
  });

  test('a key that is given twice', async () => {
    const headers = new Headers([
      ['authorization', `Bearer ${api.project.server_key}`],
      ['content-type', 'application/json'],
      ['idempotency-key', 'one'],
      ['idempotency-key', 'two'],
    ]);
    const init = { method: 'POST', headers, body: JSON.stringify(event()) };
    const response = await fetch(`${api.url}/v1/events`, init);
    expect([response.status, (await response.json()) as object]).toMatchObject([
      400,
      { error: 'invalid_idempotency_key' },
    ]);
  });

  test('comes after 401, and a GET does not look at the header', async () => {
    expectRefusal(await postEvent('a b', { key: null }), 'invalid_token');
    const headers = { 'idempotency-key': 'a b' };
    const { status } = await api.call('GET', '/v1/sends', { key: api.project.server_key, headers });
    expect(status).toBe(200);
  });
});

describe('400', () => {
  test('a refused request is not kept: the key is free for the corrected one', async () => {
    const key = newKey();
    const wrong = [
      { body: event({ event: 'Not Snake' }) },
      { body: '{' },
      { body: event({ occurred_at: '2001-01-01T00:00:00Z' }) },
    ];
    for (const call of wrong) {
      const answers = [await postEvent(key, call), await postEvent(key, call)];
      expect(answers.map(({ status }) => status)).toEqual([400, 400]);
      expect(answers.map(isReplayed)).toEqual([false, false]);
    }
    expect((await postEvent(key)).status).toBe(202);
  });
});

describe('422 idempotency_key_reused', () => {
  test('the same key with another body', async () => {
    const key = newKey();
    await postEvent(key);
    const other = event({ event: 'never_stored' });
    expectRefusal(await postEvent(key, { body: other }), 'idempotency_key_reused');
    expect(await countEvents('never_stored')).toBe(0);
    expect(isReplayed(await postEvent(key))).toBe(true);
  });
});

describe('409 idempotency_key_in_use', () => {
  test('while the first still runs the second is told when to come back', async () => {
    const key = newKey();
    const body = event({ event: 'asked_meanwhile' });
    const locker = new pg.Client({ connectionString: database.url });
    await locker.connect();
    onTestFinished(() => locker.end());
    await locker.query('begin');
    await locker.query('lock table ingest.events in access exclusive mode');
    const running = postEvent(key, { body });
    await untilWaiting(database);
    const refused = await postEvent(key, { body });
    expectRefusal(refused, 'idempotency_key_in_use');
    expect(refused.headers.get('retry-after')).toBe('1');
    await locker.query('commit');
    expect((await running).status).toBe(202);
    expect(isReplayed(await postEvent(key, { body }))).toBe(true);
    expect(await countEvents('asked_meanwhile')).toBe(1);
  });
});

describe('two api processes', () => {
  let twin: Listening;
  const resources = new Resources();
  beforeAll(async () => {
    twin = await openApi({ ...database.deps, resources }, { isDraining: false }, true);
  });
  afterAll(async () => {
    await twin.close();
    await resources.close();
  });

  test('of the same request sent to both at once, many times over, each is stored once', async () => {
    const urls = [api.url, `http://127.0.0.1:${twin.port}`];
    for (let round = 0; round < 15; round += 1) {
      const name = `met_in_round_${round}`;
      const init = {
        method: 'POST',
        headers: {
          authorization: `Bearer ${api.project.server_key}`,
          'content-type': 'application/json',
          'idempotency-key': name,
        },
        body: JSON.stringify({ events: [event({ event: name }), event({ event: name })] }),
      };
      const send = async (at: number) => {
        const response = await fetch(`${urls[at % 2]}/v1/events/batch`, init);
        return { status: response.status, text: await response.text() };
      };
      const answers = await Promise.all(Array.from({ length: 6 }, (_, at) => send(at)));
      const stored = answers.filter(({ status }) => status === 202);
      expect(stored.length).toBeGreaterThan(0);
      expect(new Set(stored.map(({ text }) => text)).size).toBe(1);
      expect(answers.every(({ status }) => status === 202 || status === 409)).toBe(true);
      expect(await countEvents(name)).toBe(2);
    }
  });
});

test('a request without the header costs the database nothing more', async () => {
  const statements: string[] = [];
  const recorder = {
    name: 'record',
    beforeQueryExecution: (_context: unknown, { sql: text }: { sql: string }) => {
      statements.push(text.replaceAll(/\s+/g, ' ').trim());
      return null;
    },
  };
  const url = runtimeUrl(database.url, database.deps.keys);
  const db = await openDb(url, 4, [recorder]);
  const resources = new Resources();
  const one = await openApi({ ...database.deps, db, resources }, { isDraining: false }, true);
  const send = async (headers: Record<string, string>) => {
    statements.length = 0;
    const response = await fetch(`http://127.0.0.1:${one.port}/v1/events`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${api.project.server_key}`,
        'content-type': 'application/json',
        ...headers,
      },
      body: JSON.stringify(event()),
    });
    expect(response.status).toBe(202);
    return statements.filter((text) => !/queue\.add_hint|base\.api_processes/.test(text));
  };
  await send({});
  expect(await send({})).toEqual([expect.stringContaining('ingest.accept_events')]);
  expect(await send({ 'idempotency-key': newKey() })).toEqual([
    expect.stringContaining('http.claim_key'),
    expect.stringContaining('ingest.accept_events'),
    expect.stringContaining('base.use_project'),
    expect.stringContaining('update http.idempotency_keys'),
  ]);
  await one.close();
  await resources.close();
  await db.end();
});
