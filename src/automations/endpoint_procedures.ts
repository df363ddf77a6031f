import { z } from 'zod';
import { inProject } from '../base/db.ts';
import { newId } from '../base/ids.ts';
import { listInput } from '../base/page.ts';
import { editorProcedure, projectProcedure, router } from '../base/procedure.ts';
import {
  addEndpoint,
  changeEndpoint,
  changeSecret,
  getEndpoint,
  removeEndpoint,
  showEndpoint,
} from './endpoint_acts.ts';
import { EndpointPatch, NewEndpoint, toColumns } from './endpoint_shown.ts';
import type { Vault } from './endpoints.ts';
import { pageDeliveries, readWaiting, sendTestEvent } from './subscriptions/delivery_acts.ts';

const OfEndpoint = z.object({ endpointId: z.uuid() });

/** Whom webhook steps tell. The list is among what a step may name: `automations.endpoints`. */
export const endpointProcedures = (vault: Vault) =>
  router({
    read: projectProcedure
      .input(OfEndpoint)
      .query(({ ctx, input: { projectId, endpointId } }) =>
        inProject(ctx.deps, projectId, (scope) => showEndpoint(scope, endpointId)),
      ),

    /** Answers the secret that calls are signed with, which is shown here and never again. */
    add: editorProcedure
      .input(z.object({ endpoint: NewEndpoint }))
      .mutation(({ ctx: { deps }, input: { projectId, endpoint } }) =>
        addEndpoint({ deps, projectId }, vault, {
          endpointId: newId(),
          ...toColumns(endpoint),
        }),
      ),

    /** What is left out stays. */
    edit: editorProcedure
      .input(OfEndpoint.extend({ change: EndpointPatch }))
      .mutation(async ({ ctx: { deps }, input: { projectId, endpointId, change } }) => {
        const found = await inProject(deps, projectId, (scope) => getEndpoint(scope, endpointId));
        return changeEndpoint({ deps, projectId }, found, toColumns(change));
      }),

    /** Answers another secret, once; the one before goes on for a while beside it. */
    rotateSecret: editorProcedure
      .input(OfEndpoint)
      .mutation(async ({ ctx: { deps }, input: { projectId, endpointId } }) => {
        await inProject(deps, projectId, (scope) => getEndpoint(scope, endpointId));
        return changeSecret({ deps, projectId }, vault, { endpointId, secretId: newId() });
      }),

    /** What it was sent by subscription, the newest first. */
    deliveries: projectProcedure
      .input(OfEndpoint)
      .input(listInput)
      .query(({ ctx, input: { projectId, endpointId, ...query } }) =>
        inProject(ctx.deps, projectId, async (scope) => {
          await getEndpoint(scope, endpointId);
          return pageDeliveries(scope, endpointId, query);
        }),
      ),

    /** How many deliveries wait, up to a number, and since when. */
    waiting: projectProcedure
      .input(OfEndpoint)
      .query(({ ctx, input: { projectId, endpointId } }) =>
        inProject(ctx.deps, projectId, (scope) => readWaiting(scope, endpointId)),
      ),

    /** Queues one test event. */
    test: editorProcedure
      .input(OfEndpoint)
      .mutation(async ({ ctx: { deps }, input: { projectId, endpointId } }) => {
        const found = await inProject(deps, projectId, (scope) => getEndpoint(scope, endpointId));
        return sendTestEvent({ deps, projectId }, found, newId());
      }),

    /** Steps that name it fail from then on. */
    remove: editorProcedure
      .input(OfEndpoint)
      .mutation(({ ctx, input: { projectId, endpointId } }) =>
        inProject(ctx.deps, projectId, async (scope) => {
          await getEndpoint(scope, endpointId);
          await removeEndpoint(scope, endpointId);
          return { id: endpointId };
        }),
      ),
  });
