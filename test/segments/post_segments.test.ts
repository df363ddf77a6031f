import { beforeEach, expect, test } from 'vitest';
import { createProject } from '../../src/projects/projects.ts';
import { expectRefusal, testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { refreshOn } from './recount.ts';

const database = testDatabase();
const api = testApi(database);
const tag = { kind: 'tag', tag: 'unsubscribed' };

beforeEach(async () => {
  api.project = await createProject(database.deps, 'test');
});
const call = (method: string, path: string, body?: unknown) =>
  api.call(method, `/v1/segments${path}`, {
    key: api.project.server_key,
    ...(body === undefined ? {} : { body }),
  });
const create = (where: unknown, given: object = {}) =>
  call('POST', '', { name: 'a', definition: { where, ...given } });
const refresh = () => refreshOn(database, api.project.project_id);
const asks = (segment_id: string) => ({ kind: 'segment', segment_id });

test('201: a segment fills in the background and is ready then', async () => {
  const { status, body } = await create(tag);
  expect(status).toBe(201);
  expect(body).toMatchObject({ status: 'counting', version: 1, kind: 'dynamic' });
  expect(body.progress).toEqual({ counted_until: null, examined: 0 });
  await refresh();
  expect((await call('GET', `/${body.id}`)).body).toMatchObject({
    status: 'ready',
    progress: null,
  });
});

test('201: what has a default is shown as it counts', async () => {
  const { body } = await create({ kind: 'event', event: 'order_completed' });
  expect(body.definition).toEqual({
    version: 1,
    include_suppressed: false,
    where: {
      kind: 'event',
      event: 'order_completed',
      where: [],
      count: { is: 'at_least', value: 1 },
    },
  });
});

test.each([
  ['an unknown kind', { kind: 'regex', of: 'a' }, '/definition/where/kind'],
  ['a tag that nobody has', { kind: 'tag', tag: 'vip' }, '/definition/where/tag'],
  [
    'an event that nobody can send',
    { kind: 'event', event: 'Order Completed' },
    '/definition/where/event',
  ],
  ['an unknown member', { ...tag, also: 1 }, '/definition/where/also'],
  ['an empty list of conditions', { kind: 'all', of: [] }, '/definition/where/of'],
  [
    'an anniversary of no days',
    { kind: 'trait', trait: 'born', test: { is: 'anniversary', days: 0 } },
    '/definition/where/test/days',
  ],
  [
    'a window of no days',
    { kind: 'event', event: 'a', within_days: 0 },
    '/definition/where/within_days',
  ],
  [
    'a time without offset',
    { kind: 'trait', trait: 'a', test: { is: 'before', value: '2026-01-31' } },
    '/definition/where/test/value',
  ],
  [
    'a window in a filter',
    { kind: 'event', event: 'a', where: [{ property: 'b', test: { is: 'within_last', days: 1 } }] },
    '/definition/where/where/0/test/is',
  ],
  ['who is suppressed, of nobody who is', { kind: 'suppressed' }, '/definition/where'],
  [
    'a segment that is not there',
    asks('019a9f0c-6c00-7cc3-98c4-dc0c0c07398f'),
    '/definition/where',
  ],
])('400 invalid_request: %s', async (_name, where, path) => {
  const issues = expectRefusal(await create(where), 'invalid_request');
  expect(issues.map((issue) => issue.path)).toEqual([path]);
});

test('400 invalid_request: a name that is not one of an event says what it may be', async () => {
  const [issue] = expectRefusal(
    await create({ kind: 'event_time', event: 'Order Completed', occurrence: 'last' }),
    'invalid_request',
  );
  expect(issue?.message).toBe('must be snake_case: try "order_completed"');
});

test('400 invalid_request: conditions inside each other by the thousand', async () => {
  const depth = 3_000;
  const where = `${'{"kind":"not","of":'.repeat(depth)}${JSON.stringify(tag)}${'}'.repeat(depth)}`;
  const body = `{"name":"a","definition":{"where":${where}}}`;
  const answer = await api.call('POST', '/v1/segments', { key: api.project.server_key, body });
  expectRefusal(answer, 'invalid_request');
});

test('400 invalid_request: a segment that asks about itself by way of others', async () => {
  const { body: first } = await create(tag);
  const { body: second } = await create(asks(first.id));
  const { body: third } = await create({ kind: 'not', of: asks(second.id) });
  for (const id of [first.id, second.id, third.id]) {
    const change = { version: 1, definition: { where: asks(id) } };
    expectRefusal(await call('PATCH', `/${first.id}`, change), 'invalid_request');
  }
});

test('200: a change is the next version, and the old one cannot be changed any more', async () => {
  const { body } = await create(tag);
  const change = { version: 1, definition: { where: { kind: 'subscribed' } } };
  expect((await call('PATCH', `/${body.id}`, change)).body).toMatchObject({
    version: 2,
    status: 'counting',
  });
  expectRefusal(await call('PATCH', `/${body.id}`, change), 'segment_changed');
  expect((await call('PATCH', `/${body.id}`, { version: 2, name: 'b' })).body).toMatchObject({
    version: 3,
    name: 'b',
  });
});

test('409 segment_in_use: what another asks about stays until that one is gone', async () => {
  const { body: used } = await create(tag);
  const { body: user } = await create(asks(used.id));
  const refused = await call('DELETE', `/${used.id}`);
  expectRefusal(refused, 'segment_in_use');
  expect(refused.body.detail).toContain(`the segment "${user.name}"`);
  expect((await call('DELETE', `/${user.id}`)).status).toBe(200);
  expect((await call('DELETE', `/${used.id}`)).status).toBe(200);
  expectRefusal(await call('GET', `/${used.id}`), 'not_found');
  await refresh();
  for (const table of ['segments', 'versions', 'members', 'history', 'conditions', 'counters']) {
    const { rows } = await database.owner.query(
      `select from segments.${table} where project_id = $1`,
      [api.project.project_id],
    );
    expect(rows, table).toHaveLength(0);
  }
});

test('200: what nobody asks any more is forgotten, and counted anew for whoever asks again', async () => {
  const ordered = { kind: 'event', event: 'order_completed' };
  const key = api.project.server_key;
  const event = { event: 'order_completed', external_id: 'ann' };
  await api.call('POST', '/v1/events', { key, body: event });
  await api.processEvents();
  for (let round = 0; round < 2; round += 1) {
    const { body } = await create(ordered);
    await refresh();
    expect((await call('GET', `/${body.id}/members`)).body.items).toHaveLength(1);
    await call('DELETE', `/${body.id}`);
    if (round === 0) await refresh();
  }
  const { body } = await create(ordered);
  await refresh();
  expect((await call('GET', `/${body.id}/members`)).body.items).toHaveLength(1);
});
