import type { Scope } from '../base/db.ts';
import { LATE_AFTER_MS } from '../ingest/ingest.ts';
import * as profiles from '../profiles/profiles.ts';
import type { ChangeNotes } from '../profiles/profiles.ts';
import { listCounted, listUsed } from './conditions.ts';
import { evaluate } from './evaluate.ts';
import type { Counter } from './evaluate.ts';
import { listEvaluated } from './late_queries.ts';
import type { OwnCounter } from './late_queries.ts';
import { listMemberships } from './member_queries.ts';
import type { Cause, Change, Entry } from './member_queries.ts';
import { addPending, readReasonsOf } from './reasons.ts';
import type { LateCount, Reasons } from './reasons.ts';
import type { Definition } from './schema.ts';

type Defined = Pick<Change, 'segment_id' | 'version'> & { definition: Definition };
/** A definition, the conditions that are counted for it, and the segments that it asks about. */
type DefinitionUse = { definition: Definition; conditionIds: string[]; usedIds: string[] };

const keyOf = ({ segment_id, version }: Pick<Change, 'segment_id' | 'version'>): string =>
  `${segment_id}/${version}`;

/** Whether late events may have something to do with what changed. */
const mayBeLate = ({ late, movedIds, madeLagMs, isUndo }: Reasons): boolean =>
  !isUndo && (late.length > 0 || movedIds.size > 0 || madeLagMs !== null);

/** Returns a counter without late events; null where nothing is left of it. */
const without = (counter: OwnCounter, late: readonly LateCount[]): OwnCounter | null => {
  const count = counter.count - late.reduce((sum, one) => sum + one.count, 0);
  if (count <= 0) return null;
  const at = (name: 'first_at' | 'last_at', other: Date): Date =>
    late.some((one) => one[name].getTime() === counter[name].getTime()) ? other : counter[name];
  // When the late event was the first, nothing tells which is the first without it, but the last is one of them.
  return {
    ...counter,
    count,
    first_at: at('first_at', counter.last_at),
    last_at: at('last_at', counter.first_at),
  };
};

/** The counters of a person without late events, and the shortest lag of those for each condition. */
type FreshCounters = { counters: Counter[]; lags: Map<string, number> };

const reduce = (counters: readonly OwnCounter[], { late, movedIds }: Reasons): FreshCounters => {
  const lags = new Map<string, number>();
  const note = (conditionId: string, lagMs: number): void => {
    lags.set(conditionId, Math.min(lagMs, lags.get(conditionId) ?? lagMs));
  };
  const left = counters.flatMap((counter): Counter[] => {
    const { identity_id, condition_id, day, lag_ms, own_profile_id } = counter;
    if (movedIds.has(own_profile_id) && lag_ms !== null && lag_ms > LATE_AFTER_MS) {
      note(condition_id, lag_ms);
      return [];
    }
    const own = late.filter(
      (one) =>
        one.identity_id === identity_id && one.condition_id === condition_id && one.day === day,
    );
    for (const one of own) note(condition_id, one.lag_ms);
    const rest = own.length === 0 ? counter : without(counter, own);
    return rest ? [rest] : [];
  });
  return { counters: left, lags };
};

/** Memberships that late events changed: whether each would be one without them, and how late they were. */
type LateChanges = Map<string, { isMember: boolean; lagMs: number }>;

/** What is known of some people, with the late events. */
type PeopleData = {
  reasons: ReadonlyMap<string, Reasons>;
  rows: Map<string, profiles.ProfileRow>;
  counters: Map<string, OwnCounter[]>;
  memberships: Map<string, Set<string>>;
};

export type Evaluation = {
  /** The notes that people are evaluated for, by their profiles. */
  notes: ReadonlyMap<string, ChangeNotes>;
  /** The cause of changes of people without notes. */
  cause: Cause;
  today: number;
};

/**
 * Tells which changes of memberships would not have happened without late events: of the events that are new to this
 * evaluation, and of those that a link brought. Each such person is evaluated once more without them. Definitions come
 * in the order in which they ask about each other.
 */
export class Lateness {
  readonly #scope: Scope;
  readonly #evaluation: Evaluation;
  /** By people. */
  readonly #changed = new Map<string, LateChanges>();

  constructor(scope: Scope, evaluation: Evaluation) {
    this.#scope = scope;
    this.#evaluation = evaluation;
  }

  /** Turns changes by some definitions into entries of the history, before they are written. */
  async judge(changes: readonly Change[], defined: readonly Defined[]): Promise<Entry[]> {
    const { cause } = this.#evaluation;
    const reasonsOf = await this.#readReasons(changes);
    const suspects = changes.filter(({ profile_id }) => {
      const reasons = reasonsOf.get(profile_id);
      return reasons !== undefined && mayBeLate(reasons);
    });
    const asked = suspects.length === 0 ? null : askedBy(defined);
    const known = asked && (await this.#read(suspects, [...asked.values()], reasonsOf));
    return changes.map((change): Entry => {
      const reasons = (known?.reasons ?? reasonsOf).get(change.profile_id);
      if (!reasons) return { ...change, cause, source: null, lagMs: null };
      const { source } = reasons;
      const one = asked?.get(keyOf(change));
      const lagMs = known && one && mayBeLate(reasons) ? this.#findLag(change, one, known) : null;
      if (lagMs === null) return { ...change, cause: causeOf(reasons), source, lagMs };
      this.#remember(change, lagMs);
      return { ...change, cause: 'change', source, lagMs };
    });
  }

  /**
   * Reads why people changed, also by notes that are still to be taken: a later one, or one that had no place among
   * those that were. The evaluation may have seen their effects. A fill asks for no reasons.
   */
  async #readReasons(changes: readonly Change[]): Promise<ReadonlyMap<string, Reasons>> {
    const ids = [...new Set(changes.map(({ profile_id }) => profile_id))];
    if (this.#evaluation.cause === 'fill' || ids.length === 0)
      return this.#reasonsOf(ids, new Map());
    return this.#reasonsOf(ids, await profiles.listPendingReasons(this.#scope, ids));
  }

  /** Returns why some people changed, by the notes of the evaluation and those that are still to be taken. */
  #reasonsOf(
    ids: readonly string[],
    pending: ReadonlyMap<string, ChangeNotes['reasons']>,
  ): ReadonlyMap<string, Reasons> {
    const { notes } = this.#evaluation;
    const own = ids.flatMap((id): [string, ChangeNotes][] => {
      const found = notes.get(id);
      return found ? [[id, found]] : [];
    });
    return readReasonsOf(addPending(new Map(own), pending));
  }

  /** Returns how late the events were without which a change would not have happened; null where it would have. */
  #findLag(
    { profile_id: id, change }: Change,
    { definition, conditionIds, usedIds }: DefinitionUse,
    known: PeopleData,
  ): number | null {
    const row = known.rows.get(id);
    const reasons = known.reasons.get(id);
    if (!row || !reasons) return null;
    const { counters, lags } = reduce(known.counters.get(id) ?? [], reasons);
    const { madeLagMs } = reasons;
    const { email, traits, tags } = row;
    // Without the events that made the person there would be no person, unless something fresh is known of them.
    const isMadeLate =
      madeLagMs !== null &&
      !reasons.isFresh &&
      reasons.movedIds.size === 0 &&
      counters.length === 0 &&
      Object.keys(traits).length === 0;
    const changed: LateChanges = this.#changed.get(id) ?? new Map();
    const relevant = [
      ...(isMadeLate ? [madeLagMs] : []),
      ...conditionIds.flatMap((one) => lags.get(one) ?? []),
      ...usedIds.flatMap((one) => changed.get(one)?.lagMs ?? []),
    ];
    if (relevant.length === 0) return null;
    const segmentIds = new Set(known.memberships.get(id));
    for (const [segmentId, { isMember }] of changed)
      if (isMember) segmentIds.add(segmentId);
      else segmentIds.delete(segmentId);
    // Only static segments ask who was imported, and they ask nothing of events.
    const person = { email, traits, tags, counters, segmentIds, importedInto: new Set<string>() };
    const isMember = !isMadeLate && evaluate(definition, person, this.#evaluation.today).isMember;
    return isMember === (change === 'entered') ? null : Math.min(...relevant);
  }

  #remember({ profile_id, segment_id, change }: Change, lagMs: number): void {
    const changed: LateChanges = this.#changed.get(profile_id) ?? new Map();
    changed.set(segment_id, { isMember: change === 'left', lagMs });
    this.#changed.set(profile_id, changed);
  }

  async #read(
    changes: readonly Change[],
    asked: readonly DefinitionUse[],
    reasonsOf: ReadonlyMap<string, Reasons>,
  ): Promise<PeopleData> {
    const unique = (all: readonly string[]) => [...new Set(all)];
    const ids = unique(changes.map(({ profile_id }) => profile_id));
    const conditionIds = unique(asked.flatMap((one) => one.conditionIds));
    const usedIds = unique(asked.flatMap((one) => one.usedIds));
    const rows = await profiles.listRows(this.#scope, ids);
    const evaluated = await listEvaluated(this.#scope, ids, conditionIds);
    // Instead of what was noted a moment before: notes and counters have to be of one moment.
    const pending = new Map(evaluated.map((one) => [one.profile_id, one.reasons]));
    const reasons = this.#reasonsOf(ids, pending);
    const memberships =
      usedIds.length === 0 ? [] : await listMemberships(this.#scope, ids, usedIds);
    const byPerson = Map.groupBy(memberships, ({ profile_id }) => profile_id);
    return {
      reasons: new Map([...reasonsOf, ...reasons]),
      rows: new Map(
        rows.filter(({ merged_into }) => merged_into === null).map((row) => [row.profile_id, row]),
      ),
      counters: new Map(evaluated.map(({ profile_id, counters }) => [profile_id, counters])),
      memberships: new Map(
        [...byPerson].map(([id, own]) => [id, new Set(own.map(({ segment_id }) => segment_id))]),
      ),
    };
  }
}

const askedBy = (defined: readonly Defined[]): Map<string, DefinitionUse> =>
  new Map(
    defined.map(({ definition, ...one }) => {
      const conditionIds = listCounted([definition]).map(({ conditionId }) => conditionId);
      return [keyOf(one), { definition, conditionIds, usedIds: listUsed(definition) }];
    }),
  );

/**
 * Returns the cause of a change that would have happened without late events. An undo is the cause of all that changes
 * with it: nothing tells what would have happened without it.
 */
const causeOf = ({ isFresh, isUndo, movedIds }: Reasons): Cause => {
  if (isUndo) return 'undo';
  return isFresh || movedIds.size > 0 ? 'change' : 'time';
};
