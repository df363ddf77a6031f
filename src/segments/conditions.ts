import { createHash } from 'node:crypto';
import { listConditions } from './schema.ts';
import type { Condition, Definition, EventLeaf } from './schema.ts';
import type { Filter } from './value_schema.ts';

/**
 * What is counted for a segment: events of a name that pass filters, by day where a window asks for days.
 * Segments that ask for the same share it, so its id is made of what it is.
 */
export type CountedCondition = {
  conditionId: string;
  event: string;
  filters: Filter[];
  isDaily: boolean;
};

/** A UUID of version 8, which is for ids of one's own making (RFC 9562). */
const toUuid = (digest: Buffer): string => {
  const bytes = Buffer.from(digest.subarray(0, 16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  const ends = [8, 12, 16, 20, 32];
  return ends.map((end, at) => hex.slice(ends[at - 1] ?? 0, end)).join('-');
};

const members = ({ property, test }: Filter): string =>
  JSON.stringify([property, Object.entries(test).toSorted(([a], [b]) => (a < b ? -1 : 1))]);

/** What a condition about events counts. */
export const countedBy = (leaf: EventLeaf): CountedCondition => {
  const filters = leaf.where.toSorted((a, b) => (members(a) < members(b) ? -1 : 1));
  const isDaily = leaf.kind === 'event' && leaf.within_days !== undefined;
  const said = JSON.stringify([leaf.event, filters.map(members), isDaily]);
  const conditionId = toUuid(createHash('sha256').update(said).digest());
  return { conditionId, event: leaf.event, filters, isDaily };
};

export const isOfEvents = (condition: Condition): condition is EventLeaf =>
  condition.kind === 'event' || condition.kind === 'event_time';

/** Everything that is counted for some definitions, each once. */
export const listCounted = (definitions: readonly Definition[]): CountedCondition[] => {
  const all = definitions.flatMap(({ where }) =>
    listConditions(where).filter(isOfEvents).map(countedBy),
  );
  return [...new Map(all.map((one) => [one.conditionId, one])).values()];
};

/** The segments that a definition asks about. */
export const listUsed = ({ where }: Pick<Definition, 'where'>): string[] => [
  ...new Set(
    listConditions(where).flatMap((one) => (one.kind === 'segment' ? one.segment_id : [])),
  ),
];

/** The segments that a definition asks about, and those that they ask about, and so on, by some definitions. */
export const listReached = (
  definition: Pick<Definition, 'where'>,
  definitions: ReadonlyMap<string, { definition: Definition }>,
): string[] => {
  const reached = new Set<string>();
  const pending = listUsed(definition);
  for (let id = pending.pop(); id !== undefined; id = pending.pop()) {
    if (reached.has(id)) continue;
    reached.add(id);
    const used = definitions.get(id);
    if (used) pending.push(...listUsed(used.definition));
  }
  return [...reached];
};
