// Deliveries to endpoints that fail: tried again, a few at a time, dropped when they are too old or too many.
import { beforeEach, describe, expect, test } from 'vitest';
import { openAlert } from '../../src/alerts/alerts.ts';
import { pruneDeliveries } from '../../src/automations/automations.ts';
import {
  DELIVERIES_KEPT_HOURS,
  DELIVERY_EXPIRES_HOURS,
  ENDPOINT_FAILURES_MAX,
  SUBSCRIBED_ENDPOINTS_MAX,
} from '../../src/automations/subscriptions/delivery_limits.ts';
import { listWork } from '../../src/worker/work.ts';
import { connectAs } from '../base/connections.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { httpsSink } from '../support/https_sink.ts';
import { PARKED } from '../alerts/parked.ts';
import { subscribed, verified } from './subscribed.ts';

const database = testDatabase();
const api = testApi(database);
const sink = httpsSink({ usually: () => ({ status: 204 }) });
beforeEach(() => sink.reset());

/** A project whose endpoint has so many alerts to deliver. */
const withAlerts = async (count: number, path = '/hooks') => {
  const world = await subscribed(database, api, sink);
  const endpoint = await world.makeEndpoint(['system.*'], path);
  const { openAlerts: alert } = world;
  await alert(count);
  const read = async () => (await world.ask('GET', `/v1/webhook-endpoints/${endpoint.id}`)).body;
  const statuses = async () => (await world.listRows(endpoint.id)).map(({ status }) => status);
  return { ...world, ...endpoint, alert, read, statuses };
};

describe('a delivery that fails', () => {
  test('is tried again with the same id, and stays delivered', async () => {
    const { id, secret, deliver, update, listRows } = await withAlerts(1);
    sink.play('/hooks', { status: 503 }, 1);
    sink.play('/hooks', 'drop', 1);
    expect(await deliver(id)).toBe(1);
    expect(await listRows(id)).toMatchObject([
      { status: 'waiting', attempts: 1, reason: 'refused' },
    ]);
    expect(await deliver(id)).toBe(0);
    await update("due_at = now() - interval '1 ms'");
    await deliver(id);
    expect(await listRows(id)).toMatchObject([{ status: 'waiting', reason: 'no_answer' }]);
    await update("due_at = now() - interval '1 ms'");
    await deliver(id);
    expect(await listRows(id)).toMatchObject([{ status: 'delivered', attempts: 3, reason: null }]);
    expect(new Set(verified(sink, secret).map((one) => one.id)).size).toBe(1);
    expect(sink.requests).toHaveLength(3);
  });

  test('waits as long as the endpoint asks', async () => {
    const { id, deliver, projectId } = await withAlerts(1);
    sink.play('/hooks', { status: 429, headers: { 'retry-after': '3600' } }, 1);
    await deliver(id);
    const { rows } = await database.owner.query<{ seconds: number }>(
      `select extract(epoch from due_at - now())::float as seconds from automations.webhook_deliveries
      where project_id = $1`,
      [projectId],
    );
    expect(rows[0]?.seconds).toBeGreaterThan(3_500);
  });

  test('fails for good when the endpoint refuses the message', async () => {
    const { id, deliver, listRows, read } = await withAlerts(1);
    sink.play('/hooks', { status: 400 }, 1);
    await deliver(id);
    expect(await listRows(id)).toMatchObject([{ status: 'failed', reason: 'refused' }]);
    expect((await read()).failing_since).toBeNull();
  });

  test('410 disables the endpoint', async () => {
    const { id, deliver, read } = await withAlerts(2);
    sink.play('/hooks', { status: 410 }, 1);
    await deliver(id);
    expect(await read()).toMatchObject({ status: 'disabled', disabled_reason: 'gone' });
    expect(sink.requests).toHaveLength(1);
  });

  test('an attempt whose worker died is made again when its lease is over', async () => {
    const { id, deliver, update, listRows } = await withAlerts(1);
    await update(`status = 'calling', attempts = 1, due_at = now() + interval '1 minute'`);
    expect(await deliver(id)).toBe(0);
    await update("due_at = now() - interval '1 ms'");
    expect(await deliver(id)).toBe(1);
    expect(await listRows(id)).toMatchObject([{ status: 'delivered', attempts: 2 }]);
  });
});

describe('an endpoint that is dead', () => {
  const LEFT = 3;

  test(`gets one delivery at a time after ${ENDPOINT_FAILURES_MAX} failures, and all once it is back`, async () => {
    const { id, deliver, statuses, updateEndpoint, update, read } = await withAlerts(
      ENDPOINT_FAILURES_MAX + LEFT,
    );
    sink.play('/hooks', { status: 500 });
    expect(await deliver(id)).toBe(ENDPOINT_FAILURES_MAX);
    expect((await read()).failing_since).toEqual(expect.any(String));
    // It is paused: nothing is tried, however much is due.
    expect(await deliver(id)).toBe(0);
    await updateEndpoint("paused_until = now() - interval '1 ms'");
    expect(await deliver(id)).toBe(1);

    sink.forgive();
    await updateEndpoint("paused_until = now() - interval '1 ms'");
    await update("due_at = now() - interval '1 ms'");
    await deliver(id);
    expect((await read()).failing_since).toBeNull();
    expect(new Set(await statuses())).toEqual(new Set(['delivered']));
  });

  test('delays no other endpoint, and the sweep leaves it alone while it is paused', async () => {
    const { id, projectId, deliver, makeEndpoint, alert } = await withAlerts(ENDPOINT_FAILURES_MAX);
    const other = await makeEndpoint(['system.*'], '/others');
    sink.play('/hooks', 'drop');
    await deliver(id);
    await alert(2, 'another');
    await database.owner.query(
      `update automations.webhook_deliveries set due_at = now() - interval '1 minute'
      where project_id = $1 and status = 'waiting'`,
      [projectId],
    );
    const { deliveries } = await listWork(await connectAs(database, 'trunkline_queue'), 2);
    expect(deliveries).toContainEqual({ project_id: projectId, endpoint_id: other.id });
    expect(deliveries).not.toContainEqual({ project_id: projectId, endpoint_id: id });
    expect(await deliver(other.id)).toBe(2);
    expect(verified(sink, other.secret, '/others')).toHaveLength(2);
  });

  test('is tried at once by a test event, and when it is changed', async () => {
    const { id, deliver, ask, updateEndpoint, listRows } = await withAlerts(1);
    await updateEndpoint(
      `failure_count = ${ENDPOINT_FAILURES_MAX}, paused_until = now() + interval '1 hour'`,
    );
    expect(await deliver(id)).toBe(0);
    const queued = await ask('POST', `/v1/webhook-endpoints/${id}/test`);
    expect([queued.status, queued.body.type]).toEqual([202, 'system.test']);
    await deliver(id);
    expect(await listRows(id)).toMatchObject([
      { type: 'system.provider_parked', status: 'delivered' },
      { type: 'system.test', status: 'delivered' },
    ]);
    await updateEndpoint(`paused_until = now() + interval '1 hour'`);
    await ask('PATCH', `/v1/webhook-endpoints/${id}`, { name: 'CRM again' });
    await ask('POST', `/v1/webhook-endpoints/${id}/test`);
    expect(await deliver(id)).toBe(1);
  });
});

describe('two workers at once', () => {
  test('post each delivery once', async () => {
    const { id, deliver } = await withAlerts(8);
    const made = await Promise.all([deliver(id), deliver(id)]);
    expect(made[0] + made[1]).toBe(8);
    expect(new Set(sink.requests.map(({ headers }) => headers['webhook-id'])).size).toBe(8);
    expect(sink.requests).toHaveLength(8);
  });

  test('probe an endpoint that fails one after the other', async () => {
    const { id, deliver, updateEndpoint } = await withAlerts(2);
    await updateEndpoint(`failure_count = ${ENDPOINT_FAILURES_MAX}`);
    sink.play('/hooks', { status: 500 });
    const made = await Promise.all([deliver(id), deliver(id)]);
    expect(made.toSorted()).toEqual([0, 1]);
    expect(sink.requests).toHaveLength(1);
  });

  test('queue an alert for an endpoint once', async () => {
    const { id, announce, within, listRows } = await withAlerts(0);
    await within((scope) => openAlert(scope, PARKED));
    await Promise.all([announce(), announce()]);
    expect(await listRows(id)).toHaveLength(1);
  });
});

test('two requests at once cannot subscribe one endpoint too many', async () => {
  const { ask, makeEndpoint } = await subscribed(database, api, sink);
  for (let made = 1; made < SUBSCRIBED_ENDPOINTS_MAX; made += 1)
    await makeEndpoint(['system.*'], `/${made}`);
  const body = { name: 'CRM', url: `${sink.url}/hooks`, event_types: ['email.sent'] };
  const answers = await Promise.all([1, 2].map(() => ask('POST', '/v1/webhook-endpoints', body)));
  expect(answers.map(({ status }) => String(status)).toSorted()).toEqual(['201', '409']);
});

describe('what waits', () => {
  test(`is dropped after ${DELIVERY_EXPIRES_HOURS} hours, and not posted past them`, async () => {
    const { id, projectId, deliver, update, listRows } = await withAlerts(1);
    await update(`expires_at = now() + interval '1 minute'`);
    expect((await pruneDeliveries(database.deps, projectId)).dropped).toBe(0);
    await update("expires_at = now() - interval '1 ms'");
    expect(await deliver(id)).toBe(0);
    expect((await pruneDeliveries(database.deps, projectId)).dropped).toBe(1);
    expect(await listRows(id)).toMatchObject([{ status: 'dropped', reason: 'expired' }]);
    const { rows } = await database.owner.query<{ hours: number }>(
      `select extract(epoch from expires_at - queued_at)::float / 3600 as hours
      from automations.webhook_deliveries where project_id = $1`,
      [(await withAlerts(1)).projectId],
    );
    expect(rows[0]?.hours).toBe(DELIVERY_EXPIRES_HOURS);
  });

  test('is bounded: the oldest beyond the bound are dropped', async () => {
    const { projectId, statuses } = await withAlerts(4);
    expect((await pruneDeliveries(database.deps, projectId, 4)).dropped).toBe(0);
    expect((await pruneDeliveries(database.deps, projectId, 3)).dropped).toBe(1);
    expect(await statuses()).toEqual(['dropped', 'waiting', 'waiting', 'waiting']);
  });

  test(`and has ended is listed for ${DELIVERIES_KEPT_HOURS} hours`, async () => {
    const { id, projectId, deliver, update, ask } = await withAlerts(1);
    await deliver(id);
    const list = async () =>
      (await ask('GET', `/v1/webhook-endpoints/${id}/deliveries`)).body.items;
    expect(await list()).toMatchObject([{ status: 'delivered', http_status: 204, attempts: 1 }]);
    await update(
      `ended_at = now() - interval '${DELIVERIES_KEPT_HOURS} hours' + interval '1 minute'`,
    );
    expect((await pruneDeliveries(database.deps, projectId)).deleted).toBe(0);
    await update(`ended_at = now() - interval '${DELIVERIES_KEPT_HOURS} hours'`);
    expect((await pruneDeliveries(database.deps, projectId)).deleted).toBe(1);
    expect(await list()).toEqual([]);
  });
});

describe('the API', () => {
  test('400 POST /v1/webhook-endpoints: a type that does not exist, or twice the same', async () => {
    const { ask } = await subscribed(database, api, sink);
    for (const event_types of [['email.opend'], ['email.sent', 'email.sent']]) {
      const body = { name: 'CRM', url: 'https://example.com/hooks', event_types };
      const { status, body: said } = await ask('POST', '/v1/webhook-endpoints', body);
      expect([status, said.error]).toEqual([400, 'invalid_request']);
      expect(said.issues[0].path).toMatch(/^\/event_types/);
    }
  });

  test('409 endpoint_disabled POST /v1/webhook-endpoints/{id}/test', async () => {
    const { ask, id, deliver } = await withAlerts(0);
    await ask('PATCH', `/v1/webhook-endpoints/${id}`, { status: 'disabled' });
    const { status, body } = await ask('POST', `/v1/webhook-endpoints/${id}/test`);
    expect([status, body.error]).toEqual([409, 'endpoint_disabled']);
    expect(await deliver(id)).toBe(0);
  });

  test('a subscription is changed, and taken back', async () => {
    const { ask, id, read } = await withAlerts(0);
    const change = (event_types: string[]) =>
      ask('PATCH', `/v1/webhook-endpoints/${id}`, { event_types });
    expect((await change(['email.sent'])).body.event_types).toEqual(['email.sent']);
    await ask('PATCH', `/v1/webhook-endpoints/${id}`, { name: 'Other' });
    expect((await read()).event_types).toEqual(['email.sent']);
    expect((await change([])).body.event_types).toEqual([]);
  });

  test('the deliveries of another project do not exist', async () => {
    const { id } = await withAlerts(1);
    const { ask } = await subscribed(database, api, sink);
    expect((await ask('GET', `/v1/webhook-endpoints/${id}/deliveries`)).status).toBe(404);
    expect((await ask('POST', `/v1/webhook-endpoints/${id}/test`)).status).toBe(404);
  });
});
