// Whether an endpoint takes its deliveries: what the API shows, and the alert that the owner gets in the Console.
import { beforeEach, describe, expect, test } from 'vitest';
import { changeEndpoint, getEndpoint } from '../../src/automations/endpoint_acts.ts';
import {
  ENDPOINT_ALERT_MINUTES,
  ENDPOINT_FAILURES_MAX,
  ENDPOINT_REFUSALS_MAX,
} from '../../src/automations/subscriptions/delivery_limits.ts';
import { recordHealth } from '../../src/automations/subscriptions/endpoint_health.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { httpsSink } from '../support/https_sink.ts';
import { subscribed } from './subscribed.ts';

const database = testDatabase();
const api = testApi(database);
const sink = httpsSink({ usually: () => ({ status: 204 }) });
beforeEach(() => sink.reset());

/** An endpoint with so many alerts to deliver. */
const waiting = async (count: number) => {
  const world = await subscribed(database, api, sink);
  const { id } = await world.makeEndpoint(['system.*']);
  const path = `/v1/webhook-endpoints/${id}`;
  const { openAlerts: add } = world;
  await add(count);
  const alerts = async (status: 'open' | 'all' = 'open') =>
    (await world.ask('GET', `/v1/alerts?status=${status}`)).body.items.filter(
      ({ kind }: { kind: string }) => kind === 'endpoint_failing',
    );
  return {
    ...world,
    id,
    path,
    add,
    alerts,
    read: async () => (await world.ask('GET', path)).body,
    test: () => world.ask('POST', `${path}/test`),
    send: () => world.deliver(id),
  };
};

describe('deliveries that are refused for good', () => {
  test.each([404, 302, 400])(
    'with %i: the bound of them in a row is failing, and alerts',
    async (status) => {
      const { id, projectId, send, read, add, alerts } = await waiting(ENDPOINT_REFUSALS_MAX - 1);
      sink.play('/hooks', { status });
      await send();
      expect(await read()).toMatchObject({ status: 'active', failing_since: null });
      expect(await alerts()).toEqual([]);
      await add(1, 'one more');
      await send();
      expect((await read()).failing_since).toEqual(expect.any(String));
      expect(await alerts()).toMatchObject([
        {
          title: 'Webhook endpoint takes nothing',
          subject: { type: 'endpoint', id, name: 'CRM' },
          summary: expect.stringContaining(`HTTP ${status}`),
          fix: expect.stringContaining('only 2xx accepts'),
          details: { reason: 'refused', http_status: status },
          console_path: `/console/p/${projectId}/settings/endpoints`,
        },
      ]);
    },
  );

  test('that have one delivery in between are no row', async () => {
    const { send, read, add, test: sendTest } = await waiting(ENDPOINT_REFUSALS_MAX - 1);
    sink.play('/hooks', { status: 404 });
    await send();
    sink.forgive();
    await sendTest();
    await send();
    sink.play('/hooks', { status: 404 });
    await add(ENDPOINT_REFUSALS_MAX - 1, 'others');
    await send();
    expect((await read()).failing_since).toBeNull();
  });

  test('end with a delivery: the alert resolves once, and the endpoint is healthy', async () => {
    const { send, read, alerts, test: sendTest } = await waiting(ENDPOINT_REFUSALS_MAX);
    sink.play('/hooks', { status: 404 });
    await send();
    expect(await alerts()).toHaveLength(1);
    sink.forgive();
    await sendTest();
    await send();
    expect((await read()).failing_since).toBeNull();
    expect(await alerts()).toEqual([]);
    expect(await alerts('all')).toMatchObject([{ status: 'resolved' }]);
  });

  test.each([
    ['another address', () => ({ url: `${sink.url}/other` })],
    ['its end', () => ({ status: 'disabled' })],
  ])('are over with %s; a new name changes nothing', async (_, change) => {
    const { send, read, alerts, ask, path } = await waiting(ENDPOINT_REFUSALS_MAX);
    sink.play('/hooks', { status: 404 });
    await send();
    await ask('PATCH', path, { name: 'Our CRM', url: `${sink.url}/hooks` });
    expect(await alerts()).toHaveLength(1);
    expect((await read()).failing_since).not.toBeNull();
    await ask('PATCH', path, change());
    expect(await alerts()).toEqual([]);
    expect((await read()).failing_since).toBeNull();
  });

  test('leave no alert once the endpoint is deleted', async () => {
    const { send, alerts, ask, path } = await waiting(ENDPOINT_REFUSALS_MAX);
    sink.play('/hooks', { status: 404 });
    await send();
    await ask('DELETE', path);
    expect(await alerts()).toEqual([]);
  });
});

test('410 disables the endpoint and alerts; enabling it resolves the alert', async () => {
  const { id, send, read, alerts, ask, path } = await waiting(1);
  sink.play('/hooks', { status: 410 }, 1);
  await send();
  expect((await read()).status).toBe('disabled');
  expect(await alerts()).toMatchObject([
    { subject: { id }, details: { reason: 'gone' }, fix: expect.stringContaining('enable it') },
  ]);
  await ask('PATCH', path, { status: 'active' });
  expect(await alerts()).toEqual([]);
});

test('enabling resolves the alert, also where a worker disabled the endpoint since it was read', async () => {
  const { id, projectId, within, send, alerts, read } = await waiting(1);
  const found = await within((scope) => getEndpoint(scope, id));
  sink.play('/hooks', { status: 410 }, 1);
  await send();
  expect(await alerts()).toHaveLength(1);
  await changeEndpoint({ deps: database.deps, projectId }, found, { status: 'active' });
  expect((await read()).status).toBe('active');
  expect(await alerts()).toEqual([]);
});

test.each([
  ['disabled', () => ({ status: 'disabled' })],
  ['changed', () => ({ url: `${sink.url}/other` })],
])('an answer that comes after its endpoint was %s says nothing of it', async (_, change) => {
  const { id, within, alerts, read, ask, path } = await waiting(0);
  const endpoint = await within((scope) => getEndpoint(scope, id));
  const claimed = { endpoint: { ...endpoint, refused_count: ENDPOINT_REFUSALS_MAX }, failures: 0 };
  const answer = { kind: 'refused', httpStatus: 404, reason: 'refused' } as const;
  const record = () => within((scope) => recordHealth(scope, claimed, { answer, at: new Date() }));
  await ask('PATCH', path, change());
  await record();
  expect([await alerts(), (await read()).failing_since]).toEqual([[], null]);
  await ask('PATCH', path, { status: 'active', url: endpoint.url });
  await record();
  expect(await alerts()).toHaveLength(1);
});

test(`an endpoint that fails for ${ENDPOINT_ALERT_MINUTES} minutes alerts, not before`, async () => {
  const { send, alerts, updateEndpoint, update } = await waiting(ENDPOINT_FAILURES_MAX);
  sink.play('/hooks', { status: 503 });
  const fail = async (failingFor: string) => {
    await updateEndpoint(
      `failing_since = now() - interval '${failingFor}', paused_until = now() - interval '1 ms'`,
    );
    await update("due_at = now() - interval '1 ms'");
    await send();
  };
  await send();
  await fail(`${ENDPOINT_ALERT_MINUTES} minutes - 30 seconds`);
  expect(await alerts()).toEqual([]);
  await fail(`${ENDPOINT_ALERT_MINUTES} minutes`);
  expect(await alerts()).toMatchObject([{ details: { reason: 'no_delivery' } }]);
  sink.forgive();
  await updateEndpoint("paused_until = now() - interval '1 ms'");
  await update("due_at = now() - interval '1 ms'");
  await send();
  expect(await alerts()).toEqual([]);
});

test('202 POST /v1/webhook-endpoints/{id}/test: it is tried from now on, and not since 1970', async () => {
  const { test: sendTest } = await waiting(0);
  const { body } = await sendTest();
  expect(body.next_attempt_at).toBe(body.queued_at);
});
