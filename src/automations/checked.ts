import type { Scope } from '../base/db.ts';
import { toIssues } from '../base/parse.ts';
import type { Issue } from '../base/refusal.ts';
import { Definition } from './schema.ts';
import { findLocalLinks } from './public_links.ts';
import type { Activation } from './public_links.ts';
import { toShownOccurrence } from './schedule_shown.ts';
import { previewOccurrences } from './schedules.ts';
import { findUnknown } from './unknown.ts';

const IN_BODY = /^\/definition/;

const fromDefinition = (issues: readonly Issue[]): Issue[] =>
  issues.map(({ path, message }) => ({ path: path.replace(IN_BODY, ''), message }));

/**
 * Saving is refused for `issues`, and only activation for `activation`. `occurrences` are the next ones of a schedule,
 * whatever else is wrong.
 */
export type Checked = {
  issues: Issue[];
  activation: Issue[];
  occurrences: ReturnType<typeof toShownOccurrence>[];
};

/**
 * Whatever an automation would be refused for, without keeping it: the same words as when it is saved. Paths begin
 * at the definition.
 */
export const checkDefinition = async (
  scope: Scope,
  given: unknown,
  activation: Activation,
): Promise<Checked> => {
  const parsed = Definition.safeParse(given);
  const occurrences = (await previewOccurrences(scope, given)).map(toShownOccurrence);
  if (!parsed.success) return { issues: toIssues(parsed.error), activation: [], occurrences };
  return {
    occurrences,
    issues: fromDefinition(await findUnknown(scope, parsed.data, activation.doors)),
    activation: fromDefinition(await findLocalLinks(scope, parsed.data, activation)),
  };
};
