import { z } from 'zod';
import { inProject } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { EmailAddress } from '../base/email_address.ts';
import { newId } from '../base/ids.ts';
import { listInput } from '../base/page.ts';
import { editorProcedure, projectProcedure, router } from '../base/procedure.ts';
import { Refusal } from '../base/refusal.ts';
import { addProvider, editProvider, pageProviders, removeProvider, sendTest } from './acts.ts';
import { DomainQuery, readDomainHealth } from './domain_routes.ts';
import { findProvider } from './queries.ts';
import type { ProviderRow } from './queries.ts';
import type { ProviderDoors } from './routes.ts';
import { ProviderChange, ProviderInput } from './schema.ts';
import { showProvider } from './shown.ts';

export { sendTestMail } from './acts.ts';

const OfProvider = z.object({ providerId: z.uuid() });

const get = async (scope: Scope, providerId: string): Promise<ProviderRow> => {
  const row = await findProvider(scope, providerId);
  if (!row) throw new Refusal('not_found', { detail: 'There is no such provider.' });
  return row;
};

export const providerProcedures = ({ isStopped, releaseRamped }: ProviderDoors) =>
  router({
    /** The project's providers, the newest first. */
    list: projectProcedure
      .input(listInput)
      .query(({ ctx, input }) =>
        inProject(ctx.deps, input.projectId, (scope) => pageProviders(scope, input)),
      ),

    read: projectProcedure
      .input(OfProvider)
      .query(({ ctx, input }) =>
        inProject(ctx.deps, input.projectId, async (scope) =>
          showProvider(scope, await get(scope, input.providerId)),
        ),
      ),

    domainHealth: projectProcedure
      .input(OfProvider)
      .input(z.object(DomainQuery.shape))
      .query(async ({ ctx, input }) => {
        const row = await inProject(ctx.deps, input.projectId, (scope) =>
          get(scope, input.providerId),
        );
        return readDomainHealth(ctx.deps, row, input.dkim_selectors);
      }),

    /** Proves the settings, then keeps them. */
    add: editorProcedure
      .input(z.object({ provider: ProviderInput }))
      .mutation(({ ctx: { deps }, input: { projectId, provider } }) =>
        addProvider({ deps, projectId }, newId(), provider),
      ),

    edit: editorProcedure
      .input(OfProvider.extend({ change: ProviderChange }))
      .mutation(async ({ ctx: { deps }, input: { projectId, providerId, change } }) => {
        const row = await inProject(deps, projectId, (scope) => get(scope, providerId));
        return editProvider({ deps, projectId }, row, change, releaseRamped);
      }),

    remove: editorProcedure
      .input(OfProvider)
      .mutation(({ ctx: { deps }, input: { projectId, providerId } }) =>
        removeProvider({ deps, projectId }, providerId),
      ),

    /** Sends one real message. */
    test: editorProcedure
      .input(OfProvider.extend({ to: EmailAddress }))
      .mutation(async ({ ctx: { deps }, input: { projectId, providerId, to } }) => {
        const row = await inProject(deps, projectId, (scope) => get(scope, providerId));
        return sendTest({ deps, projectId }, row, { to, testId: newId(), isStopped });
      }),
  });
