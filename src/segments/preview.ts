import type { Scope } from '../base/db.ts';
import { compile } from './compile.ts';
import { isOfEvents, listCounted } from './conditions.ts';
import { askNewest } from './read_queries.ts';
import { listUnready, readCounted } from './ready.ts';
import { checkUsed } from './records.ts';
import { listConditions } from './schema.ts';
import type { Definition } from './schema.ts';

/** How many people a preview looks at, the newest. */
export const PREVIEW_PROFILES_MAX = 10_000;
/** The same where something is asked of events that no segment asks yet: the timelines themselves are read. */
export const PREVIEW_UNCOUNTED_MAX = 500;
export const PREVIEW_SAMPLE_MAX = 10;
/** How many conditions about events are asked of all people it looks at together: of many, fewer people. */
export const PREVIEW_ANSWERS_MAX = 50_000;
export const PREVIEW_UNCOUNTED_ANSWERS_MAX = 2_500;

/** How many people a definition is asked of, so that the answer comes while somebody waits for it. */
const peopleMax = (definition: Definition, areCounted: boolean): number => {
  const [most, answers] = areCounted
    ? [PREVIEW_PROFILES_MAX, PREVIEW_ANSWERS_MAX]
    : [PREVIEW_UNCOUNTED_MAX, PREVIEW_UNCOUNTED_ANSWERS_MAX];
  const asked = listConditions(definition.where).filter(isOfEvents).length;
  return Math.min(most, Math.floor(answers / Math.max(1, asked)));
};

export type Previewed = {
  examined: number;
  is_everybody: boolean;
  members: number;
  sample: string[];
  /** It asks about these, of whose members not all are known yet. */
  unready_segments: string[];
};

/**
 * How many of the newest people a definition would have in its segment, and some of them. Keeps nothing.
 * It is refused for what a segment is refused for.
 */
export const preview = async (
  scope: Scope,
  definition: Definition,
  today: number,
): Promise<Previewed> => {
  await checkUsed(scope, null, definition);
  const counted = await readCounted(scope);
  const isCounted = (id: string) => counted.has(id);
  const areCounted = listCounted([definition]).every(({ conditionId }) => isCounted(conditionId));
  const profilesMax = peopleMax(definition, areCounted);
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
    unready_segments: await listUnready(scope, definition),
  };
};
