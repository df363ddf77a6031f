// Unknown keys are refused before the database is asked, once too many came from one address.
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Interceptor } from 'slonik';
import { openDb } from '../../src/base/db.ts';
import { Resources } from '../../src/base/resources.ts';
import { runtimeUrl } from '../../src/base/roles.ts';
import { LOOKUP_WINDOW_SECONDS, LOOKUPS_WAITING_MAX } from '../../src/base/token_lookups.ts';
import { openApi } from '../../src/http/api.ts';
import type { Listening } from '../../src/http/api.ts';
import { inviteAdministrator } from '../../src/admin/invitations.ts';
import { createProject, findKey, KEY_CACHE_MS, revokeKey } from '../../src/projects/projects.ts';
import type { NewProject } from '../../src/projects/projects.ts';
import { expectRefusal } from '../support/api.ts';
import type { Answer } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { makeUpKey } from '../support/made_up_key.ts';
import { makePerson } from '../support/people.ts';
import { inHalves } from '../support/session.ts';

const database = testDatabase();

const PER_SECOND = 2;
const QUOTA = PER_SECOND * LOOKUP_WINDOW_SECONDS;

let project: NewProject;

/** What a process writes every few seconds: that it lives, and how many posts it refused at webhooks of `project`. */
const isOfBackground = (sql: string, values: readonly unknown[]): boolean =>
  sql.includes('api_processes') ||
  (values[0] === project.project_id &&
    /from projects\.projects|base\.use_project|feedback\.refusals/.test(sql));

/** The statements that requests made. */
const statements: string[] = [];
const recording: Interceptor = {
  name: 'recording',
  beforeQueryExecution: (_context, { sql, values }) => {
    if (!isOfBackground(sql, values)) statements.push(sql);
    return null;
  },
};

let listening: Listening;
const resources = new Resources();
const closing: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  const { deps } = database;
  project = await createProject(deps, 'known');
  const db = await openDb(runtimeUrl(database.url, deps.keys), undefined, [recording]);
  const config = { ...deps.config, rateLimitUnknownKeys: PER_SECOND, trustedProxies: 1 };
  listening = await openApi({ ...deps, db, config, resources }, { isDraining: false }, true);
  closing.push(
    () => listening.close(),
    () => resources.close(),
    () => db.end(),
  );
});
afterAll(async () => {
  for (const close of closing) await close();
});

let address = '';
let tests = 0;
beforeEach(() => {
  tests += 1;
  address = `198.51.100.${tests}`;
  statements.length = 0;
});

type Sent = {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
  from?: string | undefined;
};
const send = async (path: string, { method = 'POST', headers, body, from }: Sent) => {
  const response = await fetch(`http://127.0.0.1:${listening.port}${path}`, {
    method,
    headers: {
      'content-type': 'application/json',
      'x-forwarded-for': from ?? address,
      ...headers,
    },
    ...(body === undefined ? {} : { body }),
  });
  const text = await response.text();
  const { status } = response;
  return { status, headers: response.headers, body: text === '' ? null : JSON.parse(text) };
};

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const basic = (key: string) => ({
  authorization: `Basic ${Buffer.from(`${key}:`).toString('base64')}`,
});
const EVENT = JSON.stringify({ event: 'made', external_id: 'ann' });
const CALL = { userId: 'ann', event: 'Made' };

/** Each way to present a token that must be looked up. */
const ways: Record<string, (from?: string) => Promise<Answer>> = {
  'a publishable key as bearer token': (from) =>
    send('/v1/events', { headers: bearer(makeUpKey('publishable')), body: EVENT, from }),
  'a server key as bearer token': (from) =>
    send('/v1/suppressions', { method: 'GET', headers: bearer(makeUpKey('server')), from }),
  'a write key of Basic authentication': (from) =>
    send('/segment/v1/track', {
      headers: basic(makeUpKey('publishable')),
      body: JSON.stringify(CALL),
      from,
    }),
  'a write key in the body': (from) =>
    send('/segment/v1/track', {
      body: JSON.stringify({ ...CALL, writeKey: makeUpKey('publishable') }),
      from,
    }),
  'a webhook token': (from) =>
    send(`/v1/webhooks/smtp/${project.project_id}`, {
      headers: bearer(makeUpKey('hook')),
      body: '{}',
      from,
    }),
  'a webhook token in the address': (from) =>
    send(`/v1/webhooks/smtp/${project.project_id}?token=${makeUpKey('hook')}`, {
      body: '{}',
      from,
    }),
};

/** The kind of key of each way. */
const kindOf = (way: string): string =>
  way.includes('webhook') ? 'hook' : way.includes('server') ? 'server' : 'publishable';

const countLookups = () => statements.filter((sql) => sql.includes('projects.api_keys')).length;

describe('a flood of unknown keys from one address', () => {
  test.each(Object.entries(ways))(
    '429 rate_limited: %s is answered 401 so often as may be, then refused without a statement',
    async (_, ask) => {
      const answers: Answer[] = [];
      for (let at = 0; at < QUOTA; at += 1) answers.push(await ask());
      for (const answer of answers) expectRefusal(answer, 'invalid_token');
      const details = new Set(answers.map(({ body }) => body.detail));
      expect(details.size).toBe(1);
      expect(countLookups()).toBe(QUOTA);
      statements.length = 0;
      for (let at = 0; at < 10; at += 1) {
        const refused = await ask();
        expectRefusal(refused, 'rate_limited');
        expect(refused.headers.get('retry-after')).toMatch(/^([1-9]|10)$/);
      }
      expect(statements).toEqual([]);
      expectRefusal(await ask('203.0.113.77'), 'invalid_token');
    },
  );

  test('in parallel costs no more statements than one after the other', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 * QUOTA }, async () => ways['a server key as bearer token']?.()),
    );
    const statuses = Map.groupBy(answers, (answer) => answer?.status);
    expect(statuses.get(401)).toHaveLength(QUOTA);
    expect(statuses.get(429)).toHaveLength(19 * QUOTA);
    expect(countLookups()).toBe(QUOTA);
  });

  test.each(['publishable', 'server', 'hook'])(
    'all ways of %s keys share one bound, and an IPv6 network is one address; other kinds have their own',
    async (kind) => {
      const network = `2001:db8:${address.split('.')[3]}`;
      const [own, others] = [true, false].map((isOwn) =>
        Object.entries(ways).filter(([way]) => (kindOf(way) === kind) === isOwn),
      );
      for (let at = 0; at < QUOTA; at += 1) await own?.[at % own.length]?.[1](`${network}::${at}`);
      for (const [, ask] of own ?? []) expectRefusal(await ask(`${network}::ffff`), 'rate_limited');
      for (const [, ask] of others ?? [])
        expectRefusal(await ask(`${network}::ffff`), 'invalid_token');
    },
  );

  test('does not lock out a key that was valid a moment ago, also when it has to be looked up again', async () => {
    const { server_key } = await createProject(database.deps, 'neighbour');
    const read = () => send('/v1/suppressions', { method: 'GET', headers: bearer(server_key) });
    expect((await read()).status).toBe(200);
    for (let at = 0; at < 2 * QUOTA; at += 1) await ways['a server key as bearer token']?.();
    expect((await read()).status).toBe(200);
    // As if the cache of the key had run out.
    const later = Date.now() + KEY_CACHE_MS;
    const deps = { ...database.deps, resources };
    expect(await findKey(deps, server_key, { address, now: later })).not.toBeNull();
  });

  test('attack: does not shut out a key at its first use here: its tag shows that this service made it', async () => {
    const { server_key, publishable_key } = await createProject(database.deps, 'fresh');
    for (let at = 0; at < 2 * QUOTA; at += 1) for (const ask of Object.values(ways)) await ask();
    const read = await send('/v1/suppressions', { method: 'GET', headers: bearer(server_key) });
    expect(read.status).toBe(200);
    const sent = await send('/v1/events', { headers: bearer(publishable_key), body: '{}' });
    expect(sent.status).toBe(400);
  });

  test('shuts out a valid key from before tags at its first use here, for the rest of the window', async () => {
    const { project_id } = await createProject(database.deps, 'old');
    // The form of a key from before tags: its last random characters are no tag.
    const old = makeUpKey('server');
    await database.owner.query(
      `insert into projects.api_keys (key_id, project_id, kind, key_hash, last_four, created_at)
      values (gen_random_uuid(), $1, 'server', $2, $3, now())`,
      [project_id, database.deps.keys.hash('api-key-pepper', old), old.slice(-4)],
    );
    const read = () => send('/v1/suppressions', { method: 'GET', headers: bearer(old) });
    for (let at = 0; at < QUOTA; at += 1) await ways['a server key as bearer token']?.();
    expectRefusal(await read(), 'rate_limited');
    address = '198.51.100.250';
    expect((await read()).status).toBe(200);
    for (let at = 0; at < QUOTA; at += 1) await ways['a server key as bearer token']?.();
    expect((await read()).status).toBe(200);
  });
});

test('valid keys are looked up without being counted, however many come from one address', async () => {
  for (let at = 0; at < 2 * QUOTA; at += 1) {
    const { server_key } = await createProject(database.deps, 'many');
    const answer = await send('/v1/suppressions', { method: 'GET', headers: bearer(server_key) });
    expect(answer.status).toBe(200);
  }
});

test('a revoked key that many pages still send costs one statement, and counts under no address', async () => {
  const { project_id, publishable_key } = await createProject(database.deps, 'old page');
  const { rows } = await database.owner.query(
    "select key_id from projects.api_keys where project_id = $1 and kind = 'publishable'",
    [project_id],
  );
  await revokeKey(database.deps, project_id, rows[0].key_id);
  statements.length = 0;
  for (let at = 0; at < 2 * QUOTA; at += 1)
    expectRefusal(
      await send('/v1/events', { headers: bearer(publishable_key), body: EVENT }),
      'invalid_token',
    );
  expect(countLookups()).toBe(1);
  expect((await ways['a server key as bearer token']?.())?.status).toBe(401);
});

test('a malformed key costs no statement and counts for nothing', async () => {
  for (let at = 0; at < 2 * QUOTA; at += 1)
    expectRefusal(
      await send('/v1/suppressions', { method: 'GET', headers: bearer('svc_secret_live_none') }),
      'invalid_token',
    );
  expect(statements).toEqual([]);
  expectRefusal((await ways['a server key as bearer token']?.()) as Answer, 'invalid_token');
});

test('attack: made-up sessions of the Console cost no statement, and no limit shuts out an open one', async () => {
  const { cookie } = await makePerson(database);
  const ask = (session: string) =>
    send('/admin/trpc/account.sessions', {
      method: 'GET',
      headers: { ...inHalves(session), 'sec-fetch-site': 'same-origin' },
    });
  const madeUp = () => randomBytes(32).toString('base64url');
  statements.length = 0;
  for (let at = 0; at < 2 * QUOTA; at += 1)
    expect((await ask(`trunkline_session=${madeUp()}.${madeUp()}`)).status).toBe(401);
  expect(statements).toEqual([]);
  expect((await ask(cookie)).status).toBe(200);
});

test('attack: made-up invitations are refused past a bound of their own, and shut out no real one', async () => {
  const open = (token: string) =>
    send('/admin/trpc/invitations.open', {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token }),
    });
  const madeUp = () => open(randomBytes(32).toString('base64url'));
  for (let at = 0; at < QUOTA; at += 1) expect((await madeUp()).status).toBe(404);
  statements.length = 0;
  expect((await madeUp()).status).toBe(429);
  expect(statements).toEqual([]);
  const invited = { email: 'ann@people.test', invitedBy: null };
  const { path } = await inviteAdministrator(database.deps, invited);
  expect((await open(path.split('#')[1] ?? '')).status).toBe(200);
  expect((await ways['a server key as bearer token']?.())?.status).toBe(401);
});

test('projects that do not exist, in the address of a webhook without a token, share the bound', async () => {
  const post = () => send(`/v1/webhooks/mailgun/${crypto.randomUUID()}`, { body: '{}' });
  for (let at = 0; at < QUOTA; at += 1) expectRefusal(await post(), 'not_found');
  statements.length = 0;
  expectRefusal(await post(), 'rate_limited');
  expect(statements).toEqual([]);
});

test('attack: a flood of unknown keys from the address that all visitors share refuses no fresh key', async () => {
  const own = new Resources();
  const config = {
    ...database.deps.config,
    rateLimitUnknownKeys: PER_SECOND,
    publicUrl: 'https://mail.shop.example',
    trustedProxies: 0,
  };
  const deps = { ...database.deps, config, resources: own };
  const shared = await openApi(deps, { isDraining: false }, true);
  const read = async (key: string): Promise<number> => {
    const url = `http://127.0.0.1:${shared.port}/v1/suppressions`;
    return (await fetch(url, { headers: bearer(key) })).status;
  };
  for (let at = 0; at < 2 * QUOTA; at += 1) expect(await read(makeUpKey('server'))).toBe(401);
  const { server_key } = await createProject(database.deps, 'fresh');
  expect(await read(server_key)).toBe(200);
  // A flood at once finds so many waiting places, and no more.
  const flood = await Promise.all(
    Array.from({ length: LOOKUPS_WAITING_MAX }, () => read(makeUpKey('server'))),
  );
  expect(flood.filter((status) => status !== 401 && status !== 503)).toEqual([]);
  expect(await read((await createProject(database.deps, 'another')).server_key)).toBe(200);
  await shared.close();
  await own.close();
});
