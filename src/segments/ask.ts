import type { Scope } from '../base/db.ts';
import { compile } from './compile.ts';
import { listHolders } from './read_queries.ts';
import { readCounted } from './ready.ts';
import type { Condition } from './schema.ts';

/**
 * Lists those of some people who match a condition as they are, by the compiler of segments. What no segment has
 * counted is read from the timelines of these people.
 */
export const listMatching = async (
  scope: Scope,
  profileIds: readonly string[],
  { where, today }: { where: Condition; today: number },
): Promise<Set<string>> => {
  const counted = await readCounted(scope);
  const place = { projectId: scope.projectId, today, isCounted: (id: string) => counted.has(id) };
  const holds = compile({ version: 1, include_suppressed: true, where }, place);
  return listHolders(scope, profileIds, holds);
};
