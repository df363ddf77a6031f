import type { Scope } from '../base/db.ts';
import { toIssues } from '../base/parse.ts';
import type { Issue } from '../base/refusal.ts';
import { Definition } from './schema.ts';
import { findUnknown } from './unknown.ts';
import type { Doors } from './unknown.ts';

const IN_BODY = /^\/definition/;

/**
 * Whatever an automation would be refused for, without keeping it: the same words as when it is saved. Paths begin
 * at the definition.
 */
export const checkDefinition = async (
  scope: Scope,
  given: unknown,
  doors: Doors,
): Promise<Issue[]> => {
  const parsed = Definition.safeParse(given);
  if (!parsed.success) return toIssues(parsed.error);
  const unknown = await findUnknown(scope, parsed.data, doors);
  return unknown.map(({ path, message }) => ({ path: path.replace(IN_BODY, ''), message }));
};
