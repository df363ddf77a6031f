import { beforeAll, describe, expect, test } from 'vitest';
import {
  NAME_CHARS_MAX,
  PURPOSE_CHARS_MAX,
  REQUESTS_WAITING_MAX,
} from '../../src/admin/access_procedures.ts';
import {
  countAccessRequest,
  REQUESTS_PER_EMAIL_MAX,
  REQUESTS_PER_ORIGIN_MAX,
} from '../../src/admin/access_throttle.ts';
import { insertRequest } from '../../src/admin/access_queries.ts';
import { newId } from '../../src/base/ids.ts';
import { testAdmin } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { makePerson } from '../support/people.ts';
import type { SignedInPerson } from '../support/people.ts';
import { refusalOf } from '../support/refusal_of.ts';
import { sessionOf } from '../support/session.ts';

const database = testDatabase();
const api = testApi(database);
const admin = testAdmin(database, api);

let boss: SignedInPerson;
beforeAll(async () => {
  boss = await makePerson(database, { isAdmin: true });
});

const person = (email: string) => ({ email, name: 'Ann Miller', purpose: 'A newsletter' });
const resetLimits = () => database.owner.query('delete from base.rate_limit_counters');
/** As if there had been no request before. */
const ask = async (input: object) => {
  await resetLimits();
  return admin.call('access.request', { type: 'mutation', input });
};
const decide = (name: string, input: object) =>
  admin.call(name, { type: 'mutation', input, cookie: boss.cookie });
const list = async (status?: string) =>
  (
    await admin.call('access.list', {
      type: 'query',
      input: status === undefined ? {} : { status },
      cookie: boss.cookie,
    })
  ).body.result.data.items as Record<string, unknown>[];
const idOf = async (email: string) => (await list()).find((one) => one['email'] === email)?.['id'];

test('the answer is the same whether somebody is known, asked before, or neither', async () => {
  const known = await makePerson(database);
  const answers = [
    await ask(person(known.email)),
    await ask(person('new@people.test')),
    await ask(person('NEW@people.test')),
  ];
  for (const { status, body, headers } of answers) {
    expect([status, body]).toEqual([200, { result: { data: { received: true } } }]);
    expect(headers.getSetCookie()).toEqual([]);
  }
  const waiting = await list('waiting');
  expect(waiting.map(({ email, is_known }) => [email, is_known])).toEqual([
    ['new@people.test', false],
    [known.email, true],
  ]);
});

test('approved for a new project, somebody gets a link, is its owner, and the request says so', async () => {
  await ask(person('owner@people.test'));
  const accessRequestId = await idOf('owner@people.test');
  const input = { accessRequestId, newProject: 'Ann’s shop', role: 'owner' };
  const { status, body } = await decide('access.approve', input);
  expect(status).toBe(200);
  const { project_id, path } = body.result.data;
  expect(path).toMatch(/^\/console\/invitation#[\w-]{43}$/);
  expect((await decide('access.approve', input)).status).toBe(404);
  const [request] = await list('approved');
  expect(request).toMatchObject({
    status: 'approved',
    decided_by: boss.email,
    project_id,
    project_name: 'Ann’s shop',
  });
  const token = path.split('#')[1];
  const accept = { token, password: 'a password of my own' };
  const answer = await admin.call('invitations.accept', { type: 'mutation', input: accept });
  const cookie = sessionOf(answer.headers.getSetCookie(), answer.body);
  const projects = await admin.call('projects.list', { type: 'query', input: {}, cookie });
  expect(projects.body.result.data.items).toEqual([
    { id: project_id, name: 'Ann’s shop', role: 'owner' },
  ]);
});

test('refused, a request stays listed, and may be made again', async () => {
  await ask(person('no@people.test'));
  const accessRequestId = await idOf('no@people.test');
  expect((await decide('access.refuse', { accessRequestId })).status).toBe(200);
  expect((await decide('access.refuse', { accessRequestId })).status).toBe(404);
  expect((await list('refused')).map(({ email }) => email)).toEqual(['no@people.test']);
  await ask(person('no@people.test'));
  expect((await list('waiting')).map(({ email }) => email)).toContain('no@people.test');
});

test.each([
  ['neither a project nor the name of a new one', {}, 400],
  ['both', { newProject: 'x', projectId: newId() }, 400],
  ['a project that there is not', { projectId: newId() }, 404],
])('%s: nothing is decided', async (_, place, status) => {
  const email = `${newId()}@people.test`;
  await ask(person(email));
  const accessRequestId = await idOf(email);
  const answer = await decide('access.approve', { accessRequestId, role: 'owner', ...place });
  expect(answer.status).toBe(status);
  const [request] = (await list('waiting')).filter((one) => one['email'] === email);
  expect(request).toMatchObject({ decided_at: null });
});

test.each([
  ['a name of 201 characters', { name: 'x'.repeat(NAME_CHARS_MAX + 1) }],
  ['a purpose of 2 001 characters', { purpose: 'x'.repeat(PURPOSE_CHARS_MAX + 1) }],
  ['no name', { name: ' ' }],
  ['no address', { email: 'ann' }],
])('400 invalid_request: %s', async (_, wrong) => {
  const { status, body } = await ask({ ...person('long@people.test'), ...wrong });
  expect(status).toBe(400);
  expect(body.error.data.issues).toHaveLength(1);
});

test('a name of 200 and a purpose of 2 000 characters are kept', async () => {
  const name = 'x'.repeat(NAME_CHARS_MAX);
  const purpose = 'y'.repeat(PURPOSE_CHARS_MAX);
  expect((await ask({ email: 'most@people.test', name, purpose })).status).toBe(200);
  expect(await idOf('most@people.test')).toBeDefined();
});

describe('429 rate_limited', () => {
  test('an address asks three times an hour, wherever from, known or not', async () => {
    const attempt = (n: number) =>
      countAccessRequest(database.deps, { email: 'Ann@x.test', address: `10.0.0.${n}` });
    for (let n = 1; n <= REQUESTS_PER_EMAIL_MAX; n += 1) await attempt(n);
    const refused = await refusalOf(attempt(9));
    expect(refused.reason).toBe('rate_limited');
    expect(refused.extras.retryAfterSeconds).toBeGreaterThan(0);
  });

  test('an origin asks ten times an hour, whoever for', async () => {
    await resetLimits();
    const attempt = (n: number) =>
      countAccessRequest(database.deps, { email: `${n}@x.test`, address: '10.0.0.1' });
    for (let n = 1; n <= REQUESTS_PER_ORIGIN_MAX; n += 1) await attempt(n);
    expect((await refusalOf(attempt(99))).reason).toBe('rate_limited');
  });

  test('the endpoint counts', async () => {
    await resetLimits();
    const email = 'often@people.test';
    const again = () => admin.call('access.request', { type: 'mutation', input: person(email) });
    const statuses = [];
    for (let n = 0; n <= REQUESTS_PER_EMAIL_MAX; n += 1) statuses.push((await again()).status);
    expect(statuses).toEqual([200, 200, 200, 429]);
  });
});

test('so many requests wait, and no more', async () => {
  const { db } = database.deps;
  const waiting = async () =>
    (
      await database.owner.query(
        `select count(*)::int as count from admin.access_requests where status = 'waiting'`,
      )
    ).rows[0].count as number;
  const before = await waiting();
  const insert = () =>
    insertRequest(db, { requestId: newId(), ...person(`${newId()}@x.test`) }, before + 1);
  await insert();
  expect(await waiting()).toBe(before + 1);
  await insert();
  expect(await waiting()).toBe(before + 1);
  expect(REQUESTS_WAITING_MAX).toBe(1_000);
});
