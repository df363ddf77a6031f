import type { Scope } from '../base/db.ts';
import { compile } from './compile.ts';
import { askOne } from './read_queries.ts';
import { readCounted } from './ready.ts';
import type { Condition } from './schema.ts';

/**
 * Whether a condition holds for a person as they are, in the language of segments and by its compiler. What no
 * segment has counted is read from the timeline of this one person.
 */
export const holdsFor = async (
  scope: Scope,
  profileId: string,
  { where, today }: { where: Condition; today: number },
): Promise<boolean> => {
  const counted = await readCounted(scope);
  const place = { projectId: scope.projectId, today, isCounted: (id: string) => counted.has(id) };
  return askOne(scope, profileId, compile({ version: 1, include_suppressed: true, where }, place));
};
