// How many alerts and webhooks are kept and wait, at the bound and one past it.
import { expect } from 'vitest';
import { openAlert, pruneAlerts } from '../../src/alerts/alerts.ts';
import { announceAlerts, pruneDeliveries } from '../../src/automations/automations.ts';
import {
  addFailure,
  addRefusal,
  admitDelivery,
} from '../../src/automations/subscriptions/health_queries.ts';
import { inProject } from '../../src/base/db.ts';
import type { Scope } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { expectRefusal } from '../support/api.ts';
import type { TestApi } from '../support/api.ts';
import type { TestDatabase } from '../support/database.ts';

type Limits = Record<string, (value: number) => Promise<void>>;

const ALERT = {
  kind: 'bounce_rate',
  subject: 'relay',
  subjectName: 'Relay',
  summary: 'It is so.',
  fix: 'Change it.',
  details: {},
} as const;

/** How each is tried, by its name in the documents. */
export const limitsOfAlerts = (
  database: TestDatabase,
  api: TestApi,
  startAfresh: () => Promise<void>,
): Limits => {
  const projectId = () => api.project.project_id;
  const ask = (text: string, ...values: unknown[]) =>
    database.owner.query(text, [projectId(), ...values]);
  const within = <T>(work: (scope: Scope) => Promise<T>) =>
    inProject(database.deps, projectId(), work);
  const prune = () => within(pruneAlerts);
  const insertResolved = (count: number, ago: string) =>
    ask(
      `insert into alerts.alerts (project_id, alert_id, kind, subject, subject_name, summary, fix, details, opened_at,
        resolved_at)
      select $1, gen_random_uuid(), 'bounce_rate', n::text, 'a', 'b', 'c', '{}', now(), now() - $3::interval
      from generate_series(1, $2::integer) as n`,
      count,
      ago,
    );
  const addEndpoint = () =>
    api.call('POST', '/v1/webhook-endpoints', {
      key: api.project.server_key,
      body: { name: 'CRM', url: 'https://example.com/hooks', event_types: ['system.*'] },
    });
  const makeEndpoint = async (): Promise<string> => (await addEndpoint()).body.endpoint.id;
  const insertWaiting = (endpointId: string, count: number) =>
    ask(
      `insert into automations.webhook_deliveries (project_id, delivery_id, endpoint_id, message_id, type, status,
        due_at, queued_at, expires_at)
      select $1, gen_random_uuid(), $2, gen_random_uuid()::text, 'system.test', 'waiting', now(), now(),
        now() + interval '1 day'
      from generate_series(1, $3::integer)`,
      endpointId,
      count,
    );
  const pruneWebhooks = () => pruneDeliveries(database.deps, projectId());

  return {
    'Age of a resolved alert': async (days) => {
      await startAfresh();
      await insertResolved(1, `${days} days - 1 minute`);
      expect(await prune()).toBe(0);
      await insertResolved(1, `${days} days`);
      expect(await prune()).toBe(1);
    },
    'Resolved alerts of a project': async (most) => {
      await startAfresh();
      await insertResolved(most, '1 day');
      expect(await prune()).toBe(0);
      await insertResolved(1, '2 days');
      expect(await prune()).toBe(1);
    },
    'Endpoints of a project that subscribe': async (most) => {
      await startAfresh();
      for (let made = 0; made < most; made += 1) expect((await addEndpoint()).status).toBe(201);
      expectRefusal(await addEndpoint(), 'too_many_subscriptions');
    },
    'Age of a subscribed event that an endpoint did not take': async (hours) => {
      await startAfresh();
      await makeEndpoint();
      await within((scope) => openAlert(scope, ALERT));
      await within(announceAlerts);
      const age = (interval: string) =>
        ask(
          `update automations.webhook_deliveries
          set expires_at = now() + (expires_at - queued_at) - $2::interval where project_id = $1`,
          interval,
        );
      await age(`${hours} hours - 1 minute`);
      expect((await pruneWebhooks()).dropped).toBe(0);
      await ask(
        `update automations.webhook_deliveries set queued_at = expires_at - $2::interval where project_id = $1`,
        `${hours} hours`,
      );
      await age(`${hours} hours`);
      expect((await pruneWebhooks()).dropped).toBe(1);
    },
    'Subscribed events that wait for one endpoint': async (most) => {
      await startAfresh();
      const endpointId = await makeEndpoint();
      await insertWaiting(endpointId, most);
      expect((await pruneWebhooks()).dropped).toBe(0);
      await insertWaiting(endpointId, 1);
      expect((await pruneWebhooks()).dropped).toBe(1);
    },
    'Age of a delivery in the list, since it ended': async (hours) => {
      await startAfresh();
      await insertWaiting(await makeEndpoint(), 1);
      const end = (ago: string) =>
        ask(
          `update automations.webhook_deliveries set status = 'delivered', ended_at = now() - $2::interval
          where project_id = $1`,
          ago,
        );
      await end(`${hours} hours - 1 minute`);
      expect((await pruneWebhooks()).deleted).toBe(0);
      await end(`${hours} hours`);
      expect((await pruneWebhooks()).deleted).toBe(1);
    },
    'Failures in a row after which an endpoint gets one event at a time': async (most) => {
      await startAfresh();
      const endpointId = await makeEndpoint();
      const admit = () => within((scope) => admitDelivery(scope, endpointId));
      for (let failed = 1; failed < most; failed += 1)
        await within((scope) => addFailure(scope, endpointId, new Date()));
      expect([await admit(), await admit()]).toEqual([most - 1, most - 1]);
      await within((scope) => addFailure(scope, endpointId, new Date()));
      expect([await admit(), await admit()]).toEqual([most, null]);
      expect(await within((scope) => admitDelivery(scope, newId()))).toBeNull();
    },
    'Refusals in a row after which an endpoint is failing': async (most) => {
      await startAfresh();
      const endpointId = await makeEndpoint();
      const refuse = () => within((scope) => addRefusal(scope, endpointId, new Date()));
      const since = async () =>
        (
          await api.call('GET', `/v1/webhook-endpoints/${endpointId}`, {
            key: api.project.server_key,
          })
        ).body.failing_since;
      for (let refused = 1; refused < most; refused += 1) await refuse();
      expect(await since()).toBeNull();
      await refuse();
      expect(await since()).toEqual(expect.any(String));
    },
  };
};
