import type { Scope } from '../base/db.ts';
import * as profiles from '../profiles/profiles.ts';
import { countedBy, listCounted } from './conditions.ts';
import { listMembershipsOf } from './erase_queries.ts';
import { evaluate } from './evaluate.ts';
import type { Counter, Explained, Person } from './evaluate.ts';
import { listImportedInto } from './import_queries.ts';
import { listCountersOf, listDeciding } from './read_queries.ts';
import { listUnready, readCounted } from './ready.ts';
import type { Definition, EventLeaf } from './schema.ts';

/** How many events are named with each condition about events: the newest. */
export const EXPLAINED_EVENTS_MAX = 5;
/** How far they are looked for, in events of each identifier. */
const LOOKED_EVENTS_MAX = 2_000;

type Deciding = { event_id: string; occurred_at: string };
/** As it is answered: with the events that a count or a time comes from. */
export type Shown = Omit<Explained, 'of'> & { of?: Shown[]; events?: Deciding[] };

const isOfEvents = (condition: Explained['condition']): condition is EventLeaf =>
  condition?.kind === 'event' || condition?.kind === 'event_time';

const rangeOf = (leaf: EventLeaf, counters: readonly Counter[], today: number) => {
  const { conditionId } = countedBy(leaf);
  const days = leaf.kind === 'event' ? leaf.within_days : undefined;
  const own = counters.filter(
    ({ condition_id, day }) =>
      condition_id === conditionId && (days === undefined || day > today - days),
  );
  if (own.length === 0) return null;
  const times = own.flatMap((one) => [one.first_at.getTime(), one.last_at.getTime()]);
  return { from: new Date(Math.min(...times)), to: new Date(Math.max(...times)) };
};

type Asked = { scope: Scope; profileId: string; counters: readonly Counter[]; today: number };

const findEvents = async (asked: Asked, leaf: EventLeaf): Promise<Deciding[]> => {
  const range = rangeOf(leaf, asked.counters, asked.today);
  if (range === null) return [];
  const isFirst = leaf.kind === 'event_time' && leaf.occurrence === 'first';
  const rows = await listDeciding(asked.scope, asked.profileId, {
    event: leaf.event,
    filters: leaf.where,
    from: range.from,
    to: isFirst ? range.from : range.to,
    eventsMax: EXPLAINED_EVENTS_MAX,
    lookedMax: LOOKED_EVENTS_MAX,
  });
  return rows.map(({ event_id, occurred_at }) => ({
    event_id,
    occurred_at: occurred_at.toISOString(),
  }));
};

const withEvents = async (asked: Asked, { of, ...explained }: Explained): Promise<Shown> => {
  const parts: Shown[] = [];
  for (const part of of ?? []) parts.push(await withEvents(asked, part));
  const { condition } = explained;
  return {
    ...explained,
    ...(of ? { of: parts } : {}),
    ...(isOfEvents(condition) ? { events: await findEvents(asked, condition) } : {}),
  };
};

export type Explanation = {
  is_member: boolean;
  is_excluded: boolean;
  /** What is asked of events, and not counted to its end yet, says too little. */
  is_counted: boolean;
  /** Of whose members not all are known yet, and which it asks about. */
  unready_segments: string[];
  where: Shown;
};

/** Why a person is in a segment, or is not, by what is known of them now; null when there is nobody. */
export const explain = async (
  scope: Scope,
  definition: Definition,
  { profileId, today }: { profileId: string; today: number },
): Promise<Explanation | null> => {
  const row = await profiles.findRow(scope, profileId);
  if (!row) return null;
  const conditionIds = listCounted([definition]).map(({ conditionId }) => conditionId);
  const counters = await listCountersOf(scope, profileId, conditionIds);
  const memberships = await listMembershipsOf(scope, profileId);
  const person: Person = {
    email: row.email,
    traits: row.traits,
    tags: row.tags,
    counters,
    segmentIds: new Set(memberships.map(({ segment_id }) => segment_id)),
    importedInto: new Set(await listImportedInto(scope, profileId)),
  };
  const { isMember, isExcluded, where } = evaluate(definition, person, today);
  const counted = await readCounted(scope);
  return {
    is_member: isMember,
    is_excluded: isExcluded,
    is_counted: conditionIds.every((id) => counted.has(id)),
    unready_segments: await listUnready(scope, definition),
    where: await withEvents({ scope, profileId, counters, today }, where),
  };
};
