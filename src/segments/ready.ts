import type { Scope } from '../base/db.ts';
import { listConditionRows } from './condition_queries.ts';
import { listReached, listUsed } from './conditions.ts';
import { listLatest, listStands } from './record_queries.ts';
import type { Definition } from './schema.ts';

/** Which of the conditions about events are counted to their end. */
export const readCounted = async (scope: Scope): Promise<Set<string>> =>
  new Set(
    (await listConditionRows(scope)).flatMap(({ condition_id, status }) =>
      status === 'ready' ? condition_id : [],
    ),
  );

/** The segments that a definition asks about, by way of others too, whose members are not all known yet. */
export const listUnready = async (scope: Scope, definition: Definition): Promise<string[]> => {
  if (listUsed(definition).length === 0) return [];
  const latest = new Map((await listLatest(scope)).map((one) => [one.segment_id, one]));
  const reached = new Set(listReached(definition, latest));
  return (await listStands(scope)).flatMap(({ segment_id, status }) =>
    reached.has(segment_id) && status !== 'ready' ? segment_id : [],
  );
};
