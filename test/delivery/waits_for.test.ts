// Why a queued send waits, as far as its provider is the reason: looked up when it is read.
import { beforeEach, expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { createProject } from '../../src/projects/projects.ts';
import { allow, noteFailure, park, spend } from '../../src/providers/providers.ts';
import { counterparts, fieldsOf, providersOf } from '../providers/counterparts.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { newSend, sendsOf } from './one_send.ts';

const database = testDatabase();
const sinks = counterparts(database);
const api = testApi(database);
const { create } = providersOf(api);
beforeEach(async () => {
  api.project = await createProject(database.deps, 'its own');
});

const within = <T>(work: Parameters<typeof inProject<T>>[2]): Promise<T> =>
  inProject(database.deps, api.project.project_id, work);

/** A send that is queued for a provider, and what it waits for. */
const queued = async (given: object = {}) => {
  const { id: providerId } = (await create(fieldsOf(sinks, 'relay_api', given))).body;
  const { sendId } = newSend();
  const sends = sendsOf(database, api.project.project_id);
  await sends.plan(newSend({ sendId, providerId }));
  const read = async () =>
    (await api.call('GET', `/v1/sends/${sendId}`, { key: api.project.server_key })).body;
  return { providerId, sendId, sends, read };
};
const fix = expect.stringMatching(/\w/);
const nothing = { reason: null, until: null, fix };

test('GET 200: nothing holds a send of a provider that is well', async () => {
  expect((await (await queued()).read()).waits_for).toBeNull();
});

test('GET 200: a parked provider, with its reason and what to do, and only while the send waits', async () => {
  const { providerId, sendId, sends, read } = await queued({ rate_per_second: 5 });
  await within((scope) => park(scope, providerId, 'authentication_failed'));
  expect(await read()).toMatchObject({
    status: 'queued',
    status_reason: null,
    waits_for: {
      because: 'provider_parked',
      reason: 'authentication_failed',
      until: null,
      fix: expect.stringContaining('save the provider again'),
    },
  });
  await sends.update(sendId, `status = 'cancelled'`);
  expect((await read()).waits_for).toBeNull();
});

test('GET 200: an open circuit, with the moment at which it is tried again', async () => {
  const { providerId, read } = await queued();
  for (let failures = 0; failures < 5; failures += 1)
    await within((scope) => noteFailure(scope, providerId, { isProbe: false }));
  const { waits_for: waits } = await read();
  expect(waits).toMatchObject({ because: 'circuit_open', reason: null, fix });
  expect(Date.parse(waits.until)).toBeGreaterThan(Date.now());
});

test('GET 200: a ramp that has no room today, until midnight in UTC', async () => {
  const ramp = { started_on: new Date().toISOString().slice(0, 10), stages: [2, 2] };
  const { providerId, read } = await queued({ ramp });
  expect((await read()).waits_for).toBeNull();
  await within(async (scope) => spend(scope, providerId, await allow(scope, providerId), 2));
  expect((await read()).waits_for).toMatchObject({
    because: 'ramp',
    until: expect.stringContaining('T00:00:00.000Z'),
  });
});

test('GET 200: a rate, but not of a send that waits for its own next try', async () => {
  const { sendId, sends, read } = await queued({ rate_per_second: 5 });
  expect((await read()).waits_for).toEqual({ ...nothing, because: 'rate' });
  await sends.update(sendId, `status_reason = 'throttled'`);
  expect((await read()).waits_for).toBeNull();
});
