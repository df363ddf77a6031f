import { z } from 'zod';
import { inProject } from '../../base/db.ts';
import { newId } from '../../base/ids.ts';
import { pageOf, pageQuery } from '../../base/page.ts';
import { NothingNeeded, route } from '../../base/route.ts';
import type { Addressed } from '../../base/route.ts';
import { findEndpoint } from '../endpoint_queries.ts';
import type { EndpointRow } from '../endpoint_queries.ts';
import { EndpointParams } from '../endpoint_shown.ts';
import { pageDeliveries, sendTestEvent } from './delivery_acts.ts';
import { Delivery } from './delivery_shown.ts';

const find = ({ deps, caller, params }: Addressed): Promise<EndpointRow | null> => {
  const named = EndpointParams.safeParse(params);
  if (!named.success) return Promise.resolve(null);
  return inProject(deps, caller.projectId, (scope) => findEndpoint(scope, named.data.id));
};
const named = { access: 'server', params: EndpointParams, find } as const;

export const deliveryRoutes = [
  route({
    ...named,
    method: 'GET',
    path: '/v1/webhook-endpoints/:id/deliveries',
    summary: 'List what an endpoint was sent by subscription, newest first.',
    query: z.strictObject(pageQuery),
    status: 200,
    answer: pageOf(Delivery),
    handle: ({ deps, caller, found, query }) =>
      inProject(deps, caller.projectId, (scope) => pageDeliveries(scope, found.endpoint_id, query)),
  }),
  route({
    ...named,
    method: 'POST',
    path: '/v1/webhook-endpoints/:id/test',
    summary: 'Send a test event to an endpoint.',
    description:
      'It is posted once, within seconds, and not retried, also after a 5xx. List the deliveries to see the answer.',
    body: NothingNeeded,
    isBodyOptional: true,
    status: 202,
    answer: Delivery,
    refusals: ['endpoint_disabled'],
    handle: ({ deps, caller: { projectId }, found, repetitionId: deliveryId = newId() }) =>
      sendTestEvent({ deps, projectId }, found, deliveryId),
  }),
];
