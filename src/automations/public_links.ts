import { inProject } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { isPublic } from '../base/public_address.ts';
import type { PublicAddress } from '../base/public_address.ts';
import { Refusal } from '../base/refusal.ts';
import type { Issue } from '../base/refusal.ts';
import { findAutomation, findVersion, listActive } from './queries.ts';
import type { Definition } from './schema.ts';
import type { Doors } from './unknown.ts';

// Marketing email has an unsubscribe link. Outside the machine that link leads to PUBLIC_URL, or nowhere.

/** What activation needs besides the rows: what other modules answer, and where links lead. */
export type Activation = { doors: Doors; site: PublicAddress };

/** The same, and a way to look up where providers are now. */
export type LiveDoors = Doors & {
  relocate: (deps: Deps, projectId: string, providerIds: readonly string[]) => Promise<void>;
};

const sayStep = (stepId: string): string =>
  `the step "${stepId}" sends marketing email through a provider outside this machine, and its unsubscribe ` +
  'link leads nowhere: set PUBLIC_URL to the address that readers open, such as https://mail.example.com, and restart';

const listMarketing = ({ settings, steps }: Definition): [string, string][] =>
  settings.category === 'marketing'
    ? Object.entries(steps).flatMap(([stepId, step]): [string, string][] =>
        step.kind === 'send_email' ? [[stepId, step.provider_id]] : [],
      )
    : [];

/** Returns an issue for each step whose unsubscribe links readers cannot open. Saving is not refused for them. */
export const findLocalLinks = async (
  scope: Scope,
  definition: Definition,
  { doors, site }: Activation,
): Promise<Issue[]> => {
  const steps = isPublic(site) ? [] : listMarketing(definition);
  const ids = [...new Set(steps.map(([, providerId]) => providerId))];
  const outside = new Set(await doors.listOutside(scope, ids));
  return steps
    .filter(([, providerId]) => outside.has(providerId))
    .map(([stepId]) => ({
      path: `/definition/steps/${stepId}/provider_id`,
      message: sayStep(stepId),
    }));
};

/** Refuses to activate or resume what would send links that readers cannot open. */
export const requirePublicLinks = async (
  scope: Scope,
  definition: Definition,
  activation: Activation,
): Promise<void> => {
  const issues = await findLocalLinks(scope, definition, activation);
  if (issues.length > 0) throw new Refusal('public_url_required', { issues });
};

/**
 * Looks up where the providers are now that the version of an automation sends marketing email through. Call it before
 * the transaction that activates or resumes it: DNS may be slow.
 */
export const relocateProviders = async (
  { deps, projectId }: { deps: Deps; projectId: string },
  automationId: string,
  version: number | null,
  { relocate }: LiveDoors,
): Promise<void> => {
  if (isPublic(deps.config)) return;
  const definition = await inProject(deps, projectId, async (scope) => {
    const kept = await findAutomation(scope, automationId);
    const chosen = version ?? (kept?.status === 'paused' ? kept.active_version : null);
    return kept && findVersion(scope, automationId, chosen ?? kept.latest_version);
  });
  const ids = definition ? listMarketing(definition).map(([, providerId]) => providerId) : [];
  await relocate(deps, projectId, [...new Set(ids)]);
};

/** How many active automations of a project are checked, the newest first. */
export const CHECKED_AUTOMATIONS_MAX = 200;

/** Lists the active automations that PUBLIC_URL would refuse now: it was removed after their activation. */
export const listWithLocalLinks = async (
  scope: Scope,
  activation: Activation,
): Promise<{ id: string; name: string }[]> => {
  if (isPublic(activation.site)) return [];
  const found: { id: string; name: string }[] = [];
  for (const { automation_id: id, name, definition } of await listActive(
    scope,
    CHECKED_AUTOMATIONS_MAX,
  ))
    if ((await findLocalLinks(scope, definition, activation)).length > 0) found.push({ id, name });
  return found;
};
