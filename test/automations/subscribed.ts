// Endpoints that subscribe, and what a worker does for their deliveries.
import { Webhook } from 'standardwebhooks';
import { expect } from 'vitest';
import { openAlert } from '../../src/alerts/alerts.ts';
import { announceAlerts } from '../../src/automations/automations.ts';
import { subscribedWebhooks } from '../../src/automations/subscriptions/webhook_schema.ts';
import { deliverNext } from '../../src/automations/subscriptions/deliver.ts';
import { inProject } from '../../src/base/db.ts';
import type { Scope } from '../../src/base/db.ts';
import { createProject } from '../../src/projects/projects.ts';
import { PARKED } from '../alerts/parked.ts';
import type { TestApi } from '../support/api.ts';
import type { TestDatabase } from '../support/database.ts';
import type { HttpsSink } from '../support/https_sink.ts';
import { vault } from './with_endpoint.ts';

export type Verified = {
  id: string;
  type: string;
  timestamp: string;
  data: Record<string, unknown>;
};

type Row = { type: string; status: string; attempts: number; reason: string | null };

/** A project of its own; `deliver` does what is due for an endpoint, and ends when nothing is. */
export const subscribed = async (database: TestDatabase, api: TestApi, sink: HttpsSink) => {
  api.project = await createProject(database.deps, 'its own');
  const { project_id: projectId, server_key: key } = api.project;
  const ask = (method: string, path: string, body?: object) =>
    api.call(method, path, { key, ...(body ? { body } : {}) });
  const makeEndpoint = async (eventTypes: string[], path = '/hooks') => {
    const body = { name: 'CRM', url: sink.url + path, event_types: eventTypes };
    const made = await ask('POST', '/v1/webhook-endpoints', body);
    expect(made.status).toBe(201);
    return { id: made.body.endpoint.id as string, secret: made.body.secret as string };
  };
  const within = <T>(work: (scope: Scope) => Promise<T>) =>
    inProject(database.deps, projectId, work);
  const deliver = async (endpointId: string): Promise<number> => {
    const asked = { projectId, endpointId, open: new Set<never>() };
    let made = 0;
    while (await deliverNext(database.deps, vault, asked)) made += 1;
    return made;
  };
  const listRows = async (endpointId: string): Promise<Row[]> =>
    (
      await database.owner.query<Row>(
        `select type, status, attempts, reason from automations.webhook_deliveries
        where project_id = $1 and endpoint_id = $2 order by delivery_id`,
        [projectId, endpointId],
      )
    ).rows;
  const announce = () => within(announceAlerts);
  const openAlerts = async (count: number, prefix = 'relay') => {
    for (let nth = 0; nth < count; nth += 1)
      await within((scope) => openAlert(scope, { ...PARKED, subject: `${prefix} ${nth}` }));
    await announce();
  };
  const update = (set: string) =>
    database.owner.query(`update automations.webhook_deliveries set ${set} where project_id = $1`, [
      projectId,
    ]);
  const updateEndpoint = (set: string) =>
    database.owner.query(`update automations.endpoints set ${set} where project_id = $1`, [
      projectId,
    ]);
  return {
    projectId,
    ask,
    makeEndpoint,
    within,
    deliver,
    listRows,
    announce,
    openAlerts,
    update,
    updateEndpoint,
  };
};

/** Verifies what a sink was sent, as a receiver does with the published library. */
export const verified = (sink: HttpsSink, secret: string, path = '/hooks'): Verified[] =>
  sink.requests
    .filter((request) => request.path === path)
    .map(({ body, headers }) => {
      const said = new Webhook(secret).verify(body.toString(), headers as Record<string, string>);
      expect((said as Verified).id).toBe(headers['webhook-id']);
      expect(subscribedWebhooks.some(({ body: schema }) => schema.safeParse(said).success)).toBe(
        true,
      );
      return said as Verified;
    });
