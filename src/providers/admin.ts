import { z } from 'zod';
import { inProject } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { EmailAddress } from '../base/email_address.ts';
import { newId } from '../base/ids.ts';
import { listInput } from '../base/page.ts';
import { editorProcedure, projectProcedure, router } from '../base/procedure.ts';
import { Refusal } from '../base/refusal.ts';
import { addProvider, editProvider, pageProviders, removeProvider, sendTest } from './acts.ts';
import {
  DomainCheckInput,
  pageChanges,
  readStoredHealth,
  recordDomainHealth,
} from './domain_health/domain_health.ts';
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

/** The health of a sender's domain. */
const domainProcedures = {
  /** What checks of the sender's domain look for, and what the last one found. */
  domainHealth: projectProcedure
    .input(OfProvider)
    .query(({ ctx: { deps }, input: { projectId, providerId } }) =>
      inProject(deps, projectId, async (scope) => {
        await get(scope, providerId);
        return readStoredHealth(scope, providerId);
      }),
    ),

  /** What has changed about the sender's domain, newest first. */
  domainHistory: projectProcedure
    .input(OfProvider)
    .input(listInput)
    .query(({ ctx: { deps }, input: { projectId, providerId, ...query } }) =>
      inProject(deps, projectId, async (scope) => {
        await get(scope, providerId);
        return pageChanges(scope, providerId, query);
      }),
    ),

  /** Checks the sender's domain now, and records what was found and what to look for. */
  checkDomain: editorProcedure
    .input(OfProvider)
    .input(z.object(DomainCheckInput.shape))
    .mutation(async ({ ctx: { deps }, input: { projectId, providerId, ...sought } }) => {
      const row = await inProject(deps, projectId, (scope) => get(scope, providerId));
      return recordDomainHealth({ deps, projectId }, row, newId(), sought);
    }),
};

export const providerProcedures = ({ isStopped, releaseRamped }: ProviderDoors) =>
  router({
    ...domainProcedures,

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
