import * as automations from '../../automations/automations.ts';
import type { Scope } from '../../base/db.ts';
import * as providers from '../../providers/providers.ts';
import * as rendering from '../../rendering/rendering.ts';
import * as segments from '../../segments/segments.ts';
import { listChanges } from '../list_changes.ts';
import { listMembers, renamed, toKey } from './names.ts';

type Named = { name: string } | null;
const keyOf = (found: Named): string | null => found && toKey(found.name);

/** What a folder calls that which a definition names by an id, and how it is found. */
const MEMBERS: Record<
  string,
  [to: string, find: (scope: Scope, id: string) => Promise<string | null>]
> = {
  provider_id: ['provider', providers.findSender],
  template_id: ['template', async (scope, id) => keyOf(await rendering.findHead(scope, id))],
  segment_id: ['segment', async (scope, id) => keyOf(await segments.findSegment(scope, id))],
  endpoint_id: [
    'endpoint',
    async (scope, id) => (await automations.findEndpoint(scope, id))?.name ?? null,
  ],
};

/** Definitions with names for ids, as far as what they name is there. */
const inNames = async (scope: Scope, definitions: readonly object[]): Promise<object[]> => {
  let named: unknown = definitions;
  for (const [member, [to, find]] of Object.entries(MEMBERS)) {
    const known = new Map<string, string>();
    for (const id of new Set(definitions.flatMap((one) => listMembers(one, member))))
      known.set(id, (await find(scope, id)) ?? id);
    named = renamed(named, member, { to, read: (id) => known.get(id) ?? id });
  }
  return named as object[];
};

/** What is different in the second of two definitions, line by line, in the words of a folder. */
export const listNamedChanges = async (
  scope: Scope,
  from: object,
  to: object,
): Promise<string[]> => {
  const changes = listChanges(from, to);
  if (changes.length === 0) return changes;
  const [before = from, after = to] = await inNames(scope, [from, to]);
  const named = listChanges(before, after);
  // Two things of one name are told apart by their ids alone.
  return named.length > 0 ? named : changes;
};
