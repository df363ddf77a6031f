import type { z } from 'zod';
import { countedBy } from './conditions.ts';
import { dayOf } from './moments.ts';
import { partsOf } from './schema.ts';
import type { Condition, Definition, EventLeaf, Leaf } from './schema.ts';
import { SUPPRESSED_TAGS, UNSUBSCRIBED_TAG } from './tags.ts';
import { holds } from './value_tests.ts';

type Json = z.core.util.JSONType;

/** What was counted of one identity on one day, or ever. */
export type Counter = {
  condition_id: string;
  /** Counted from 1970; of no meaning where a condition does not count by day. */
  day: number;
  count: number;
  first_at: Date;
  last_at: Date;
};

/** One person as a definition sees them. */
export type Person = {
  email: string | null;
  traits: Readonly<Record<string, Json>>;
  tags: readonly string[];
  counters: readonly Counter[];
  segmentIds: ReadonlySet<string>;
  /** The static segments that one of their identities was imported into. */
  importedInto: ReadonlySet<string>;
};

/** A condition, whether it holds for somebody, and what decided that. */
export type Explained = {
  kind: Condition['kind'];
  holds: boolean;
  /** Of one that holds others. */
  of?: Explained[];
  /** Of any other: itself, as it was defined. */
  condition?: Leaf;
  /** The value that it was asked of: a trait's, a count, a moment; null where there is none. */
  value?: Json;
};

const NONE: ReadonlySet<string> = new Set();

const isSuppressed = ({ tags }: Person): boolean =>
  tags.some((tag) => SUPPRESSED_TAGS.includes(tag));

const countersOf = (leaf: EventLeaf, person: Person, today: number): Counter[] => {
  const { conditionId } = countedBy(leaf);
  const days = leaf.kind === 'event' ? leaf.within_days : undefined;
  return person.counters.filter(
    ({ condition_id, day }) =>
      condition_id === conditionId && (days === undefined || day > today - days),
  );
};

const compareCount = (count: number, { is, value }: { is: string; value: number }): boolean => {
  if (is === 'exactly') return count === value;
  return is === 'at_least' ? count >= value : count <= value;
};

type Answer = { holds: boolean; value?: Json };

const explainTime = (leaf: EventLeaf & { kind: 'event_time' }, person: Person, today: number) => {
  const times = countersOf(leaf, person, today).map((one) =>
    (leaf.occurrence === 'first' ? one.first_at : one.last_at).getTime(),
  );
  if (times.length === 0) return { holds: false, value: null };
  const at = leaf.occurrence === 'first' ? Math.min(...times) : Math.max(...times);
  const { test } = leaf;
  const isHeld =
    test.is === 'within_last'
      ? today - dayOf(at) < test.days
      : test.is === 'before'
        ? at < Date.parse(test.value)
        : at > Date.parse(test.value);
  return { holds: isHeld, value: new Date(at).toISOString() };
};

const explainLeaf = (leaf: Leaf, person: Person, today: number): Answer => {
  switch (leaf.kind) {
    case 'trait': {
      const value = Object.hasOwn(person.traits, leaf.trait)
        ? person.traits[leaf.trait]
        : undefined;
      return { holds: holds(value, leaf.test, today), value: value ?? null };
    }
    case 'event': {
      const count = countersOf(leaf, person, today).reduce((sum, one) => sum + one.count, 0);
      return { holds: compareCount(count, leaf.count), value: count };
    }
    case 'event_time':
      return explainTime(leaf, person, today);
    case 'segment':
      return { holds: person.segmentIds.has(leaf.segment_id) };
    case 'imported':
      return { holds: person.importedInto.has(leaf.segment_id) };
    case 'tag':
      return { holds: person.tags.includes(leaf.tag), value: [...person.tags] };
    case 'suppressed':
      return { holds: isSuppressed(person), value: [...person.tags] };
    case 'subscribed':
      return {
        holds: person.email !== null && !person.tags.includes(UNSUBSCRIBED_TAG),
        // Without an address nobody is; with one, the tags say why not.
        value: person.email === null ? null : [...person.tags],
      };
  }
};

/** Decides a leaf by what a profile holds: null where that takes counters or memberships. */
export const decideLeaf = (
  leaf: Leaf,
  { email, traits, tags }: Pick<Person, 'email' | 'traits' | 'tags'>,
  now: Date,
): boolean | null => {
  if (!['trait', 'tag', 'suppressed', 'subscribed'].includes(leaf.kind)) return null;
  const person = { email, traits, tags, counters: [], segmentIds: NONE, importedInto: NONE };
  return explainLeaf(leaf, person, dayOf(now.getTime())).holds;
};

const explainCondition = (condition: Condition, person: Person, today: number): Explained => {
  const { kind } = condition;
  const of = partsOf(condition).map((part) => explainCondition(part, person, today));
  if (kind === 'all') return { kind, holds: of.every((part) => part.holds), of };
  if (kind === 'any') return { kind, holds: of.some((part) => part.holds), of };
  if (kind === 'not') return { kind, holds: !of[0]?.holds, of };
  return { kind, condition, ...explainLeaf(condition, person, today) };
};

/** Whether a person is in a segment on a day, condition by condition. Agrees with `compile`. */
export const evaluate = (
  { include_suppressed, where }: Definition,
  person: Person,
  today: number,
): { isMember: boolean; isExcluded: boolean; where: Explained } => {
  const explained = explainCondition(where, person, today);
  const isExcluded = !include_suppressed && isSuppressed(person);
  return { isMember: explained.holds && !isExcluded, isExcluded, where: explained };
};
