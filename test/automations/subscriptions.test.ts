// What endpoints subscribe to: queued once, posted with a signature that receivers can verify, at least once.
import { Webhook } from 'standardwebhooks';
import { beforeEach, describe, expect, test } from 'vitest';
import { openAlert, resolveAlert } from '../../src/alerts/alerts.ts';
import { announceAlerts } from '../../src/automations/automations.ts';
import { inProject } from '../../src/base/db.ts';
import { createProject } from '../../src/projects/projects.ts';
import deliverWebhooks from '../../tasks/automations/deliver_webhooks.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { httpsSink } from '../support/https_sink.ts';
import { until } from '../support/until.ts';
import { asWorker } from '../support/work_on.ts';

const database = testDatabase();
const api = testApi(database);
const sink = httpsSink({ usually: () => ({ status: 204 }) });
beforeEach(async () => {
  sink.reset();
  api.project = await createProject(database.deps, 'its own');
});

const ask = (method: string, path: string, body?: object) =>
  api.call(method, path, { key: api.project.server_key, ...(body ? { body } : {}) });
const makeEndpoint = async (eventTypes: string[], path = '/hooks') => {
  const url = sink.url + path;
  const made = await ask('POST', '/v1/webhook-endpoints', {
    name: 'CRM',
    url,
    event_types: eventTypes,
  });
  expect(made.status).toBe(201);
  return { id: made.body.endpoint.id as string, secret: made.body.secret as string };
};

const within = <T>(work: Parameters<typeof inProject<T>>[2]) =>
  inProject(database.deps, api.project.project_id, work);
const deliver = (endpointId: string) =>
  deliverWebhooks(asWorker(database))(
    { project_id: api.project.project_id, endpoint_id: endpointId },
    undefined as never,
  );

const PARKED = {
  kind: 'provider_parked',
  subject: 'relay',
  subjectName: 'Relay',
  summary: 'It is parked.',
  fix: 'Save it.',
  details: { reason: 'authentication_failed' },
} as const;

describe('system.* subscriptions', () => {
  test('an alert is posted once when it opens and once when it resolves, signed', async () => {
    const { id, secret } = await makeEndpoint(['system.*']);
    const other = await makeEndpoint(['system.bounce_rate'], '/others');
    await within((scope) => openAlert(scope, PARKED));
    await within((scope) => openAlert(scope, PARKED));
    await within((scope) => resolveAlert(scope, 'relay', 'provider_parked'));
    const { hints } = await within(announceAlerts);
    expect(hints.map(({ payload }) => payload['endpoint_id'])).toEqual([id]);
    expect((await within(announceAlerts)).hints).toEqual([]);
    await deliver(id);
    await deliver(other.id);
    await until('both are posted', () => sink.requests.length >= 2);
    const said = sink.requests.map(({ body, headers, path }) => {
      const verified = new Webhook(secret).verify(
        body.toString(),
        headers as Record<string, string>,
      );
      return { path, id: headers['webhook-id'], ...(verified as object) };
    });
    const alertId = (await ask('GET', '/v1/alerts?status=all')).body.items[0].id as string;
    expect(said.toSorted((a, b) => (String(a.id) < String(b.id) ? -1 : 1))).toMatchObject([
      {
        path: '/hooks',
        id: `${alertId}_open`,
        type: 'system.provider_parked',
        data: { alert: { id: alertId, status: 'open', resolved_at: null } },
      },
      {
        id: `${alertId}_resolved`,
        type: 'system.provider_parked',
        data: { alert: { id: alertId, status: 'resolved', resolved_at: expect.any(String) } },
      },
    ]);
  });
});
