import type { Scope } from '../base/db.ts';
import { compile } from './compile.ts';
import { listConditionRows } from './condition_queries.ts';
import { listCounted } from './conditions.ts';
import { askNewest } from './read_queries.ts';
import type { Definition } from './schema.ts';

/** How many people a preview looks at, the newest. */
export const PREVIEW_PROFILES_MAX = 10_000;
/** The same where something is asked of events that no segment asks yet: the timelines themselves are read. */
export const PREVIEW_UNCOUNTED_MAX = 500;
export const PREVIEW_SAMPLE_MAX = 10;

export type Previewed = {
  examined: number;
  is_everybody: boolean;
  members: number;
  sample: string[];
};

/** How many of the newest people a definition would have in its segment, and some of them. Keeps nothing. */
export const preview = async (
  scope: Scope,
  definition: Definition,
  today: number,
): Promise<Previewed> => {
  const known = await listConditionRows(scope);
  const ready = new Set(
    known.flatMap(({ condition_id, status }) => (status === 'ready' ? condition_id : [])),
  );
  const isCounted = (id: string) => ready.has(id);
  const areCounted = listCounted([definition]).every(({ conditionId }) => isCounted(conditionId));
  const profilesMax = areCounted ? PREVIEW_PROFILES_MAX : PREVIEW_UNCOUNTED_MAX;
  const rows = await askNewest(scope, {
    holds: compile(definition, { projectId: scope.projectId, today, isCounted }),
    profilesMax: profilesMax + 1,
  });
  const examined = rows.slice(0, profilesMax);
  const members = examined.filter(({ is_member }) => is_member);
  return {
    examined: examined.length,
    is_everybody: rows.length <= profilesMax,
    members: members.length,
    sample: members.slice(0, PREVIEW_SAMPLE_MAX).map(({ profile_id }) => profile_id),
  };
};
