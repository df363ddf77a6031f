import { inProject } from '../base/db.ts';
import type { Addressed } from '../base/route.ts';
import { findAutomation } from './queries.ts';
import type { Kept } from './queries.ts';
import { AutomationParams } from './shown.ts';

/** The automation that the path names, or null. */
const find = ({ deps, caller, params }: Addressed): Promise<Kept | null> => {
  const named = AutomationParams.safeParse(params);
  if (!named.success) return Promise.resolve(null);
  return inProject(deps, caller.projectId, (scope) => findAutomation(scope, named.data.id));
};

/** What endpoints have in common whose path names an automation. */
export const ofAutomation = { access: 'server', params: AutomationParams, find } as const;
