import { z } from 'zod';
import { inProject } from '../base/db.ts';
import { newId } from '../base/ids.ts';
import { pageOf, pageQuery, readCursor, toPage } from '../base/page.ts';
import { NothingNeeded, route } from '../base/route.ts';
import type { Addressed, Route } from '../base/route.ts';
import {
  addEndpoint,
  changeEndpoint,
  changeSecret,
  removeEndpoint,
  showEndpoint,
  showSecret,
} from './endpoint_acts.ts';
import { findEndpoint, listEndpoints } from './endpoint_queries.ts';
import type { EndpointRow } from './endpoint_queries.ts';
import {
  Endpoint,
  ENDPOINT_SHOWN,
  EndpointDeleted,
  EndpointParams,
  EndpointPatch,
  EndpointSecret,
  ListedEndpoint,
  NewEndpoint,
  toColumns,
  toListedEndpoint,
} from './endpoint_shown.ts';
import { SECRET_OVERLAP_HOURS } from './endpoints.ts';
import type { Vault } from './endpoints.ts';
import { deliveryRoutes } from './subscriptions/delivery_routes.ts';

const ALL = '/v1/webhook-endpoints';
const ONE = '/v1/webhook-endpoints/:id';

const find = ({ deps, caller, params }: Addressed): Promise<EndpointRow | null> => {
  const named = EndpointParams.safeParse(params);
  if (!named.success) return Promise.resolve(null);
  return inProject(deps, caller.projectId, (scope) => findEndpoint(scope, named.data.id));
};
const named = { access: 'server', params: EndpointParams, find } as const;

const secretIdIn = (answer: unknown): string => EndpointSecret.parse(answer).secret_id;

const secretRoutes = (vault: Vault) => [
  route({
    method: 'POST',
    path: ALL,
    access: 'server',
    summary: 'Create a webhook endpoint.',
    description:
      'Webhook steps can call it, and it can subscribe to events (`event_types`). Webhooks are signed by the ' +
      'Standard Webhooks scheme with `secret`, which is shown now and never again.',
    body: NewEndpoint,
    status: 201,
    answer: EndpointSecret,
    refusals: ['too_many_subscriptions'],
    again: {
      idIn: secretIdIn,
      find: ({ deps, caller }, id) =>
        inProject(deps, caller.projectId, (scope) =>
          showSecret(scope, vault, { endpointId: id, secretId: id }),
        ),
    },
    handle: ({ deps, caller: { projectId }, body, repetitionId: endpointId = newId() }) =>
      addEndpoint({ deps, projectId }, vault, { endpointId, ...toColumns(body) }),
  }),
  route({
    ...named,
    method: 'POST',
    path: '/v1/webhook-endpoints/:id/rotate-secret',
    summary: 'Give an endpoint another secret.',
    description:
      `For ${SECRET_OVERLAP_HOURS} hours calls carry a signature for each: change over when you like. ` +
      'The new one is shown now and never again.',
    body: NothingNeeded,
    isBodyOptional: true,
    status: 200,
    answer: EndpointSecret,
    again: {
      idIn: secretIdIn,
      find: ({ deps, caller, params }, secretId) => {
        const { id: endpointId } = EndpointParams.parse(params);
        return inProject(deps, caller.projectId, (scope) =>
          showSecret(scope, vault, { endpointId, secretId }),
        );
      },
    },
    handle: ({ deps, caller: { projectId }, found, repetitionId: secretId = newId() }) =>
      changeSecret({ deps, projectId }, vault, { endpointId: found.endpoint_id, secretId }),
  }),
];

const readRoutes = [
  route({
    method: 'GET',
    path: ALL,
    access: 'server',
    summary: 'List webhook endpoints, newest first.',
    query: z.strictObject(pageQuery),
    status: 200,
    answer: pageOf(ListedEndpoint),
    handle: ({ deps, caller, query }) =>
      inProject(deps, caller.projectId, async (scope) => {
        const beforeId = readCursor(z.tuple([z.uuid()]), query.cursor)?.[0] ?? null;
        const rows = await listEndpoints(scope, { limit: query.limit + 1, beforeId });
        return toPage(rows, query.limit, {
          item: toListedEndpoint,
          position: ({ endpoint_id }) => [endpoint_id],
        });
      }),
  }),
  route({
    ...named,
    method: 'GET',
    path: ONE,
    summary: 'One webhook endpoint.',
    status: 200,
    answer: Endpoint,
    handle: ({ deps, caller, found }) =>
      inProject(deps, caller.projectId, (scope) => showEndpoint(scope, found.endpoint_id)),
  }),
];

const changeRoutes = [
  route({
    ...named,
    method: 'PATCH',
    path: ONE,
    summary: 'Change a webhook endpoint.',
    description:
      'What is left out stays. Of one that is disabled every step fails at once, until it is active again.',
    body: EndpointPatch,
    status: 200,
    answer: Endpoint,
    example: { ...ENDPOINT_SHOWN, status: 'disabled' },
    refusals: ['too_many_subscriptions'],
    handle: ({ deps, caller: { projectId }, found, body }) =>
      changeEndpoint({ deps, projectId }, found, toColumns(body)),
  }),
  route({
    ...named,
    method: 'DELETE',
    path: ONE,
    summary: 'Delete a webhook endpoint, with its secrets.',
    description: 'Steps that name it fail from then on.',
    status: 200,
    answer: EndpointDeleted,
    handle: async ({ deps, caller, found: { endpoint_id: id } }) => {
      await inProject(deps, caller.projectId, (scope) => removeEndpoint(scope, id));
      return { id, deleted: true as const };
    },
  }),
];

/** The endpoints of webhook steps. */
export const endpointRoutes = (vault: Vault): readonly Route[] => [
  ...secretRoutes(vault),
  ...readRoutes,
  ...changeRoutes,
  ...deliveryRoutes,
];
