import * as automations from '../automations/automations.ts';
import { inProject } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { isPublic } from '../base/public_address.ts';
import { everyProject } from '../projects/projects.ts';
import * as providers from '../providers/providers.ts';
import * as rendering from '../rendering/rendering.ts';

/** How many projects a start checks, so that it never takes long. */
export const CHECKED_PROJECTS_MAX = 100;

const doors = {
  hasProvider: providers.exists,
  isProviderReady: () => Promise.resolve(true),
  listOutside: providers.listOutside,
  hasTemplate: rendering.isUsable,
  listEventVariables: rendering.listEventVariables,
};

/**
 * Logs once at a start that active automations send links which readers cannot open: PUBLIC_URL was there when they
 * were activated. They go on, because a restart with a missing setting must not stop email.
 */
export const warnOfLocalLinks = async (deps: Deps): Promise<void> => {
  if (isPublic(deps.config)) return;
  let checked = 0;
  for await (const projectId of everyProject(deps)) {
    const [found] = await inProject(deps, projectId, (scope) =>
      automations.listWithLocalLinks(scope, { doors, site: deps.config }),
    );
    if (found) {
      deps.log.warn(
        { project_id: projectId, automation_id: found.id },
        'active automations send marketing email whose unsubscribe links readers cannot open: set PUBLIC_URL',
      );
      return;
    }
    checked += 1;
    if (checked === CHECKED_PROJECTS_MAX) return;
  }
};
