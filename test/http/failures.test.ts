import { openLog } from '../../src/base/log.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDb } from '../../src/base/db.ts';
import { Resources } from '../../src/base/resources.ts';
import { runtimeUrl } from '../../src/base/roles.ts';
import { openApi } from '../../src/http/api.ts';
import type { Listening } from '../../src/http/api.ts';
import { expectRefusal, testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { openPassage } from '../support/passage.ts';

const database = testDatabase();
const api = testApi(database);

const SECRETS = ['ann@private.example', 'plan-nobody-may-read', 'kept-out-of-logs'];
const [address = '', plan = '', tokenInUrl = ''] = SECRETS;
const event = { event: 'user_signed_up', external_id: address, properties: { plan } };

/** Breaks something for as long as a piece of work takes. */
const broken = async (breaking: string, mending: string, work: () => Promise<void>) => {
  await database.owner.query(breaking);
  try {
    await work();
  } finally {
    await database.owner.query(mending);
  }
};
const withoutEvents = (work: () => Promise<void>) =>
  broken(
    'alter table ingest.events rename to somewhere_else',
    'alter table ingest.somewhere_else rename to events',
    work,
  );

describe('500 internal_error', () => {
  test('says nothing of what broke, and the next request is well', async () => {
    const post = () =>
      api.call('POST', '/v1/events', { key: api.project.publishable_key, body: event });
    await withoutEvents(async () => {
      const answer = await post();
      expectRefusal(answer, 'internal_error');
      expect(JSON.stringify(answer.body)).not.toMatch(/ingest|relation|sql|exist/i);
      expect(answer.headers.has('retry-after')).toBe(false);
    });
    expect((await post()).status).toBe(202);
  });

  test('is the answer of every list and object that cannot be read', async () => {
    const key = api.project.server_key;
    const paths = {
      '/v1/sends': 'delivery.sends',
      '/v1/sends/01890000-0000-7000-8000-000000000000': 'delivery.sends',
      '/v1/suppressions': 'suppression.addresses',
      '/v1/profiles?external_id=ann': 'identity.identities',
      '/v1/profiles/external_id:ann': 'identity.identities',
      '/v1/profiles/external_id:ann/events': 'identity.identities',
    };
    for (const [path, table] of Object.entries(paths)) {
      const [schema, name] = table.split('.');
      const breaking = `alter table ${table} rename to somewhere_else`;
      const mending = `alter table ${schema}.somewhere_else rename to ${name}`;
      await broken(breaking, mending, async () => {
        expectRefusal(await api.call('GET', path, { key }), 'internal_error');
      });
    }
  });

  test('is the answer of a webhook whose effect cannot be stored, and nothing of it is kept', async () => {
    const path = `/v1/webhooks/smtp/${api.project.project_id}`;
    const body = { event: 'complaint', recipient: address };
    await broken(
      'alter table suppression.history rename to somewhere_else',
      'alter table suppression.somewhere_else rename to history',
      async () => {
        const answer = await api.call('POST', path, { key: api.project.hook_token, body });
        expectRefusal(answer, 'internal_error');
      },
    );
    const { rows } = await database.owner.query('select from feedback.notices');
    expect(rows).toEqual([]);
  });
});

describe('what is logged', () => {
  const lines: string[] = [];
  let logging: Listening;
  const send = (path: string, body: unknown, key: string | null) =>
    fetch(`http://127.0.0.1:${logging.port}${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(key ? { authorization: `Bearer ${key}` } : {}),
      },
      body: JSON.stringify(body),
    });

  beforeAll(async () => {
    const log = openLog('trace', { write: (line) => void lines.push(line) });
    logging = await openApi({ ...database.deps, log }, { isDraining: false }, true);
  });
  afterAll(() => logging.close());

  test('a failure is logged once, with the id that the caller can quote', async () => {
    lines.length = 0;
    await withoutEvents(async () => {
      const answer = await send('/v1/events', event, api.project.server_key);
      const logged = lines.map((line) => JSON.parse(line));
      expect(logged).toMatchObject([
        { level: 50, msg: 'internal_error', request_id: answer.headers.get('x-request-id') },
      ]);
      expect(logged[0].err).toMatchObject({ code: '42P01', at: expect.any(Array) });
    });
  });

  test('no address, body, token or URL is logged, whether it goes well or not', async () => {
    lines.length = 0;
    const { project_id, hook_token, server_key } = api.project;
    const hook = `/webhooks/smtp/${project_id}?token=${hook_token}&note=${tokenInUrl}`;
    const notice = { event: 'complaint', recipient: address, reason: plan };
    const all = async () => {
      await send('/v1/events', event, server_key);
      await send('/v1/events', { ...event, event: address }, server_key);
      await send(hook, notice, null);
      await send(`/webhooks/smtp/${project_id}?token=${tokenInUrl}`, notice, null);
    };
    await all();
    await withoutEvents(all);
    const check = `check (name <> '${event.event}')`;
    await broken(
      `alter table ingest.events add constraint never ${check} not valid`,
      'alter table ingest.events drop constraint never',
      all,
    );
    await broken(
      'alter table feedback.notices rename to somewhere_else',
      'alter table feedback.somewhere_else rename to notices',
      all,
    );
    expect(lines).toHaveLength(3);
    const text = lines.join('');
    for (const secret of [...SECRETS, hook_token, server_key, '/webhooks/', '/v1/events'])
      expect(text).not.toContain(secret);
  });
});

describe('503 unavailable', () => {
  test('the database is gone: every endpoint says when to come back, and does when it is', async () => {
    const passage = await openPassage(new URL(database.url));
    const url = new URL(runtimeUrl(database.url, database.deps.keys));
    url.port = String(passage.port);
    const db = await openDb(url.href);
    const deps = { ...database.deps, db, resources: new Resources() };
    const far = await openApi(deps, { isDraining: false }, true);
    const { publishable_key, server_key, hook_token, project_id } = api.project;
    const call = async (method: string, path: string, key: string, body?: unknown) => {
      const response = await fetch(`http://127.0.0.1:${far.port}${path}`, {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return {
        status: response.status,
        headers: response.headers,
        body: (await response.json()) as { reason?: string },
      };
    };
    const notice = { event: 'complaint', recipient: 'bob@example.net' };
    const all = [
      () => call('POST', '/v1/events', publishable_key, event),
      () => call('POST', '/v1/events/batch', publishable_key, { events: [event] }),
      () => call('GET', '/v1/sends', server_key),
      () => call('GET', '/v1/suppressions', server_key),
      () => call('GET', '/v1/profiles?external_id=ann', server_key),
      () => call('POST', `/webhooks/smtp/${project_id}`, hook_token, notice),
    ];
    // First with keys that are not known to the process yet, then with keys that are.
    for (const known of [false, true]) {
      if (known) for (const one of all) expect((await one()).status).toBeLessThan(300);
      passage.cut();
      for (const answer of await Promise.all(all.map((one) => one()))) {
        expectRefusal(answer, 'unavailable');
        expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
      }
      expect((await call('GET', '/healthz', '')).status).toBe(200);
      const ready = await call('GET', '/readyz', '');
      expect([ready.status, ready.body.reason]).toEqual([503, 'database_unavailable']);
      await passage.mend();
    }
    await expect.poll(async () => (await call('GET', '/readyz', '')).status).toBe(200);
    for (const one of all) expect((await one()).status).toBeLessThan(300);
    await far.close();
    await deps.resources.close();
    await db.end();
    passage.cut();
  });

  test('connections that were cut while idle cost nobody a request for long', async () => {
    await database.owner.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid()`,
    );
    const key = api.project.server_key;
    await expect.poll(async () => (await api.call('GET', '/v1/sends', { key })).status).toBe(200);
  });
});
