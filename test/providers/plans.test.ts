import { expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import {
  allow,
  findState,
  LINKS_PER_PROVIDER_MAX,
  noteFailure,
  noteThrottled,
  spend,
} from '../../src/providers/providers.ts';
import { networkOfTest, TEST_ANSWER_MS_MAX } from '../../src/providers/test_provider.ts';
import { ownApi } from '../support/own_api.ts';
import { testDatabase } from '../support/database.ts';
import { counterparts, fieldsOf, providersOf, sendOneOf } from './counterparts.ts';
import { used } from './used.ts';

const database = testDatabase();
const sinks = counterparts(database);
const api = ownApi(database);
const { create, read, change, test: send } = providersOf(api);
const sendOne = sendOneOf(database, api);
const createOne = async (given: object = {}) => {
  const { status, body } = await create(fieldsOf(sinks, 'relay_api', given));
  expect(status).toBe(201);
  return body;
};
const state = (id: string) =>
  inProject(database.deps, api.project.project_id, (scope) => findState(scope, id));
const breakDown = async (id: string): Promise<void> => {
  for (let failures = 0; failures < 5; failures += 1)
    await inProject(database.deps, api.project.project_id, (scope) =>
      noteFailure(scope, used(id), { isProbe: false }),
    );
};

test('POST 201: a rate and a ramp are kept, shown, and hold', async () => {
  const ramp = { started_on: new Date().toISOString().slice(0, 10), stages: [7, 70] };
  const made = await createOne({ rate_per_second: 2.55, ramp });
  expect(made).toMatchObject({ rate_per_second: 2.55, ramp });
  expect((await read(made.id)).body).toEqual(made);
  expect((await state(made.id))?.rate).toBe(2.55);
  const allowed = await inProject(database.deps, api.project.project_id, (scope) =>
    allow(scope, made.id),
  );
  expect(allowed.sends).toBeLessThanOrEqual(7);
});

test('POST 201: a ramp that says only when it begins has the usual stages', async () => {
  const { ramp } = await createOne({ ramp: { started_on: '2026-02-01' } });
  expect(ramp).toEqual({ started_on: '2026-02-01', stages: [50, 500, 5_000] });
});

test('PATCH 200: what is left out stays, null takes it away, and the provider is not asked', async () => {
  const ramp = { started_on: '2026-02-01', stages: [10, 100] };
  const { id } = await createOne({ rate_per_second: 5, ramp });
  sinks.relay.reset();
  expect((await change(id, { rate_per_second: 9 })).body).toMatchObject({
    rate_per_second: 9,
    ramp,
  });
  expect((await change(id, { display_name: 'New' })).body).toMatchObject({
    rate_per_second: 9,
    ramp,
  });
  expect((await change(id, { rate_per_second: null, ramp: null })).body).toMatchObject({
    rate_per_second: null,
    ramp: null,
  });
  expect(sinks.relay.requests).toEqual([]);
});

test.each([
  { rate_per_second: 0 },
  { rate_per_second: 1_000.01 },
  { rate_per_second: 0.001 },
  { ramp: { started_on: '1999-12-31' } },
  { ramp: { started_on: '2026-02-30' } },
  { ramp: { started_on: '2999-01-01' } },
  { display_name: ' ' },
  { from_name: ' \u3000' },
  { ramp: { started_on: '2026-02-01', stages: [] } },
  { ramp: { started_on: '2026-02-01', stages: [0, 50] } },
])('400 invalid_request: %j', async (given) => {
  expect((await create(fieldsOf(sinks, 'relay_api', given))).status).toBe(400);
});

test('a provider that was proved just now, by a change or a test, is not left alone any more', async () => {
  const { id } = await createOne();
  await breakDown(id);
  expect((await state(id))?.circuit).toBe('open');
  await change(id, { display_name: 'New' });
  expect((await state(id))?.circuit).toBe('open');
  expect((await send(id)).status).toBe(200);
  expect((await state(id))?.circuit).toBe('closed');
  await breakDown(id);
  await change(id, { from_email: 'other@shop.test' });
  expect((await state(id))?.circuit).toBe('closed');
});

test('one that throttles before it took much is slowed down a little; proved, not at all', async () => {
  const { id } = await createOne();
  sinks.relay.play('/email/mime', { status: 429, json: {} }, 1);
  expect(await sendOne(id)).toMatchObject({ status: 'queued', status_reason: 'throttled' });
  const { pace } = (await read(id)).body;
  expect(pace.is_rate_learned).toBe(true);
  // Half of one a second for each lane; what is learned grows again at once.
  expect(Math.round(pace.rate_per_second)).toBe(LINKS_PER_PROVIDER_MAX / 2);
  expect((await send(id)).status).toBe(200);
  expect((await read(id)).body.pace).toMatchObject({
    is_rate_learned: false,
    rate_per_second: null,
    paused: null,
  });
});

test.each([
  [600_000, TEST_ANSWER_MS_MAX],
  [TEST_ANSWER_MS_MAX + 1, TEST_ANSWER_MS_MAX],
  [TEST_ANSWER_MS_MAX - 1, TEST_ANSWER_MS_MAX - 1],
])('where a send waits %i ms for its answer, a test waits %i', (answerTimeoutMs, waited) => {
  const config = { ...database.deps.config, answerTimeoutMs };
  expect(networkOfTest({ ...database.deps, config }).answerTimeoutMs).toBe(waited);
});

test('GET 200: how a provider is used just now is shown, alone and in the list', async () => {
  const ramp = { started_on: new Date().toISOString().slice(0, 10), stages: [7, 70] };
  const { id, pace } = await createOne({ rate_per_second: 2.5, ramp });
  const unhindered = {
    circuit: 'closed',
    open_until: null,
    paused: null,
    rate_per_second: 2.5,
    is_rate_learned: false,
    ramp_today: { allowed: 7, used: 0 },
  };
  expect(pace).toEqual(unhindered);
  const within = <T>(work: Parameters<typeof inProject<T>>[2]) =>
    inProject(database.deps, api.project.project_id, work);
  await within(async (scope) =>
    spend(scope, id, await allow(scope, id), { taken: 3, owner: 'worker-1' }),
  );
  await within((scope) => noteThrottled(scope, used(id), 2, 0));
  await breakDown(id);
  const { body } = await read(id);
  expect(body.pace).toMatchObject({
    circuit: 'open',
    open_until: expect.any(String),
    is_rate_learned: true,
    ramp_today: { allowed: 7, used: 3 },
  });
  expect(body.pace.rate_per_second).toBeLessThan(2.5);
  expect(Date.parse(body.pace.open_until)).toBeGreaterThan(Date.now());
  const path = `/v1/projects/${api.project.project_id}/email-providers`;
  const list = await api.call('GET', path, { key: api.project.server_key });
  expect(list.body.items[0].pace).toMatchObject({ circuit: 'open', ramp_today: { used: 3 } });
});

test('GET 200: a warm-up that is over, and one that is still to come', async () => {
  const { pace } = await createOne({ ramp: { started_on: '2020-01-01' } });
  expect(pace.ramp_today).toBeNull();
  const day = new Date(Date.now() + 3 * 86_400_000).toISOString().slice(0, 10);
  const coming = await createOne({ from_email: 'b@example.com', ramp: { started_on: day } });
  expect(coming.pace.ramp_today).toEqual({ allowed: 0, used: 0 });
});
