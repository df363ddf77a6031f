import * as profiles from '../profiles/profiles.ts';
import { countedBy, listUsed } from './conditions.ts';
import type { Membership } from './member_queries.ts';
import type { Defined } from './record_queries.ts';
import { listConditions } from './schema.ts';
import type { Condition, Definition } from './schema.ts';
import { SUPPRESSED_TAGS, UNSUBSCRIBED_TAG } from './tags.ts';

const { aspectOf } = profiles;
const SUPPRESSED = SUPPRESSED_TAGS.map((tag) => aspectOf('tag', tag));

const aspectsOfCondition = (condition: Condition): readonly number[] => {
  switch (condition.kind) {
    case 'trait':
      return [aspectOf('trait', condition.trait)];
    case 'event':
    case 'event_time':
      return [aspectOf('counter', countedBy(condition).conditionId)];
    case 'imported':
      return [aspectOf('list', condition.segment_id)];
    case 'tag':
      return [aspectOf('tag', condition.tag)];
    case 'suppressed':
      return SUPPRESSED;
    case 'subscribed':
      // And the address: a note of another one says that anything may have changed.
      return [aspectOf('tag', UNSUBSCRIBED_TAG)];
    case 'all':
    case 'any':
    case 'not':
    case 'segment':
      return [];
  }
};

/** Returns the aspects of a person that a definition reads, besides the segments that it asks about. */
export const aspectsOf = ({ include_suppressed, where }: Definition): Set<number> =>
  new Set([
    ...(include_suppressed ? [] : SUPPRESSED),
    ...listConditions(where).flatMap(aspectsOfCondition),
  ]);

/** A definition, and the people who are asked about it, if any. */
export type Concern = { one: Defined; profileIds: ReadonlySet<string> };

const add = <K>(index: Map<K, Set<string>>, key: K, id: string): void => {
  const known = index.get(key);
  if (known) known.add(id);
  else index.set(key, new Set([id]));
};

/**
 * Tells which definitions some people are to be asked about: those that read what changed of the person, and those that
 * ask about a segment that the person entered or left just now. People without notes are asked about all of them, and
 * so are people whose notes say that anything may have changed.
 */
export class Concerns {
  readonly #profileIds: readonly string[];
  readonly #whole = new Set<string>();
  readonly #byAspect = new Map<number, Set<string>>();
  readonly #bySegment = new Map<string, Set<string>>();
  /** How many definitions each person was asked about. */
  readonly #counts = new Map<string, number>();

  constructor(
    profileIds: readonly string[],
    notes: ReadonlyMap<string, Pick<profiles.ChangeNotes, 'aspects'>>,
  ) {
    this.#profileIds = profileIds;
    for (const id of profileIds) {
      const aspects = notes.get(id)?.aspects ?? null;
      if (aspects === null) this.#whole.add(id);
      else for (const aspect of aspects) add(this.#byAspect, aspect, id);
    }
  }

  /** Returns who is asked about each of some definitions. None of them asks about another. */
  ask(defined: readonly Defined[]): Concern[] {
    return defined.map((one) => {
      const found = [
        ...[...aspectsOf(one.definition)].map((aspect) => this.#byAspect.get(aspect)),
        ...listUsed(one.definition).map((segmentId) => this.#bySegment.get(segmentId)),
      ];
      const profileIds = new Set([...this.#whole, ...found.flatMap((ids) => [...(ids ?? [])])]);
      for (const id of profileIds) this.#counts.set(id, (this.#counts.get(id) ?? 0) + 1);
      return { one, profileIds };
    });
  }

  /** Takes in who entered and left segments. */
  add(changes: readonly Membership[]): void {
    for (const { segment_id, profile_id } of changes) add(this.#bySegment, segment_id, profile_id);
  }

  /** Returns the people who were asked about so many definitions, which are all that there are. */
  listAskedAll(count: number): string[] {
    return this.#profileIds.filter((id) => (this.#counts.get(id) ?? 0) === count);
  }
}
