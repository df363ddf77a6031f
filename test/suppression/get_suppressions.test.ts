import { beforeAll, expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { toCursor } from '../../src/base/page.ts';
import { routes } from '../../src/http/routes.ts';
import { suppress } from '../../src/suppression/suppression.ts';
import { expectRefusal, testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const api = testApi(database);

const ADDRESSES = 110;
const get = (query = '') =>
  api.call('GET', `/v1/suppressions${query}`, { key: api.project.server_key });

type Suppression = { email: string; created_at: string };

beforeAll(async () => {
  // Ten share their moment: what paging by time alone gets wrong.
  for (let from = 0; from < ADDRESSES; from += 10)
    await inProject(database.deps, api.project.project_id, async (scope) => {
      const moment = new Date();
      for (let at = from; at < from + 10; at += 1)
        await suppress(scope, {
          email: `person-${at}@example.net`,
          reason: at % 2 === 0 ? 'hard_bounce' : 'complaint',
          source: 'webhook/smtp',
          at: moment,
        });
    });
});

test('200: newest first, in the documented shape', async () => {
  const { status, body } = await get('?limit=200');
  expect(status).toBe(200);
  routes.find(({ path }) => path === '/v1/suppressions')?.answer.parse(body);
  expect(body.items).toHaveLength(ADDRESSES);
  const moments = body.items.map(({ created_at }: Suppression) => created_at);
  expect(moments).toEqual(moments.toSorted().toReversed());
  expect(new Set(moments).size).toBeLessThan(ADDRESSES);
});

test.each([1, 7, 10, 50, 110, 200])(
  '200: pages of %i neither skip nor repeat, though moments are equal',
  async (limit) => {
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const { body } = await get(`?limit=${limit}${cursor && `&cursor=${cursor}`}`);
      seen.push(...body.items.map(({ email }: Suppression) => email));
      cursor = body.next_cursor;
    }
    expect(seen).toHaveLength(ADDRESSES);
    expect(new Set(seen).size).toBe(ADDRESSES);
  },
);

test('200: an address that is only known is not on the list', async () => {
  await database.owner.query(
    `insert into suppression.addresses (project_id, address_key, email)
     values ($1, decode(repeat('00', 32), 'hex'), 'known@example.net')`,
    [api.project.project_id],
  );
  const { body } = await get('?limit=200');
  expect(body.items.map(({ email }: Suppression) => email)).not.toContain('known@example.net');
});

test('200: asked for an address, however it is written, the page holds it alone', async () => {
  const { body } = await get('?email=Person-1@EXAMPLE.net');
  expect(body).toMatchObject({ items: [{ email: 'person-1@example.net' }], next_cursor: null });
  expect((await get('?email=nobody@example.net')).body.items).toEqual([]);
});

test('400 invalid_request: limits and cursors that are none, each named', async () => {
  const at = new Date().toISOString();
  const id = '01890000-0000-7000-8000-000000000000';
  const cursors = [
    '',
    'x',
    ...[[], [at], [id], [at, id], [at, ''], ['x', 'a'.repeat(43)], [at, 'a'.repeat(44)]].map(
      toCursor,
    ),
  ];
  for (const cursor of cursors) {
    const issues = expectRefusal(await get(`?cursor=${cursor}`), 'invalid_request');
    expect(issues.map(({ path }) => path)).toEqual(['/cursor']);
  }
  for (const limit of ['0', '201', 'abc', '']) {
    const issues = expectRefusal(await get(`?limit=${limit}`), 'invalid_request');
    expect(issues.map(({ path }) => path)).toEqual(['/limit']);
  }
  for (const query of ['?email=', '?mail=person-1@example.net'])
    expectRefusal(await get(query), 'invalid_request');
});

test('200: one address is looked up, in whatever case; who is not suppressed is not there', async () => {
  const { body } = await get(`?email=${encodeURIComponent('Person-1@Example.NET')}`);
  expect(body).toMatchObject({ items: [{ email: 'person-1@example.net' }], next_cursor: null });
  for (const email of ['known@example.net', 'nobody@example.net', 'no address'])
    expect((await get(`?email=${email}`)).body).toEqual({ items: [], next_cursor: null });
});
