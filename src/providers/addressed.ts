import { z } from 'zod';
import { inProject } from '../base/db.ts';
import type { Addressed } from '../base/route.ts';
import { findProvider } from './queries.ts';
import type { ProviderRow } from './queries.ts';

const ProviderParams = z.object({ id: z.uuid().meta({ description: "The provider's id." }) });

/** The provider that the path names, or null. */
const find = ({ deps, caller, params }: Addressed): Promise<ProviderRow | null> => {
  const named = ProviderParams.safeParse(params);
  if (!named.success) return Promise.resolve(null);
  return inProject(deps, caller.projectId, (scope) => findProvider(scope, named.data.id));
};

/** What endpoints have in common whose path names a provider. */
export const ofProvider = { access: 'server', params: ProviderParams, find } as const;
