import { beforeAll, expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { toCursor } from '../../src/base/page.ts';
import { routes } from '../../src/http/routes.ts';
import { resubscribe, suppress, unsubscribe } from '../../src/suppression/suppression.ts';
import { expectRefusal, testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const api = testApi(database);

const ADDRESSES = 60;
const MOMENT = new Date('2026-01-31T12:00:00Z');
const emailOf = (at: number): string => `person-${at}@example.net`;
const call = (method: string, path: string, body?: object) =>
  api.call(method, path, { key: api.project.server_key, ...(body ? { body } : {}) });
const get = (query = '') => call('GET', `/v1/unsubscribes${query}`);

type Unsubscribe = { email: string; source: string; unsubscribed_at: string };

beforeAll(() =>
  inProject(database.deps, api.project.project_id, async (scope) => {
    // Ten of one moment, which is what paging by time alone gets wrong.
    for (let at = 0; at < ADDRESSES; at += 1)
      await unsubscribe(scope, {
        email: emailOf(at),
        source: 'webhook/smtp',
        at: new Date(MOMENT.getTime() + Math.floor(at / 10)),
      });
    await suppress(scope, { email: 'bob@example.net', reason: 'complaint', source: 'test' });
  }),
);

test('200: the latest first, in the documented shape; suppressions are another list', async () => {
  const { status, body } = await get('?limit=200');
  expect(status).toBe(200);
  const declared = routes.find(
    ({ path, method }) => path === '/v1/unsubscribes' && method === 'GET',
  );
  declared?.answer.parse(body);
  expect(body.items).toHaveLength(ADDRESSES);
  const moments = body.items.map(({ unsubscribed_at }: Unsubscribe) => unsubscribed_at);
  expect(moments).toEqual(moments.toSorted().toReversed());
  expect(new Set(body.items.map(({ source }: Unsubscribe) => source))).toEqual(
    new Set(['webhook/smtp']),
  );
});

test.each([1, 7, 10, 60, 200])('200: pages of %i neither skip nor repeat', async (limit) => {
  const seen: string[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const { body } = await get(`?limit=${limit}${cursor && `&cursor=${cursor}`}`);
    seen.push(...body.items.map(({ email }: Unsubscribe) => email));
    cursor = body.next_cursor;
  }
  expect(seen).toHaveLength(ADDRESSES);
  expect(new Set(seen).size).toBe(ADDRESSES);
});

test('200: who came back is off the list, and who left again is on it, by whom they said so last', async () => {
  const email = 'to-and-fro@example.net';
  const find = async () => (await get(`?email=${email.toUpperCase()}`)).body;
  await call('POST', '/v1/unsubscribes', { email });
  expect(await find()).toMatchObject({ items: [{ email, source: 'api' }], next_cursor: null });
  await call('POST', `/v1/unsubscribes/${email}/resubscribe`);
  expect(await find()).toEqual({ items: [], next_cursor: null });
  await call('POST', '/v1/suppression-imports', {
    addresses: [{ email, reason: 'unsubscribed' }],
  });
  expect(await find()).toMatchObject({ items: [{ email, source: 'import' }] });
  await call('POST', `/v1/unsubscribes/${email}/resubscribe`);
});

test('200: since when stays when it is said again, also when a time in between is told late', async () => {
  const email = 'again@example.net';
  const say = (word: typeof unsubscribe, minute: number) =>
    inProject(database.deps, api.project.project_id, (scope) =>
      word(scope, { email, source: 'webhook/smtp', at: at(minute) }),
    );
  const at = (minute: number) => new Date(MOMENT.getTime() + minute * 60_000);
  const since = async (minute: number) => {
    const unsubscribed_at = at(minute).toISOString();
    const { body } = await get(`?email=${email}`);
    expect(body.items).toMatchObject([{ email, unsubscribed_at }]);
    const state = await call('GET', `/v1/suppressions/${email}`);
    expect(state.body).toMatchObject({ unsubscribed_at });
  };
  await say(unsubscribe, 2);
  await since(2);
  await say(unsubscribe, 4);
  await since(2);
  await say(unsubscribe, 1);
  await since(1);
  await say(resubscribe, 3);
  await since(4);
});

test('400 invalid_request: limits, cursors and members that are none, each named', async () => {
  for (const cursor of ['', 'x', toCursor([MOMENT.toISOString(), 'a'])]) {
    const issues = expectRefusal(await get(`?cursor=${cursor}`), 'invalid_request');
    expect(issues.map(({ path }) => path)).toEqual(['/cursor']);
  }
  for (const query of ['?limit=0', '?limit=201', '?email=', '?mail=a@example.net'])
    expectRefusal(await get(query), 'invalid_request');
});
