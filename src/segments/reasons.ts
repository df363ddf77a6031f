import { z } from 'zod';
import type { Aspects, ChangeNotes } from '../profiles/profiles.ts';

/** A moment in a JSON document of Postgres. */
const Moment = z.string().transform((text) => new Date(text));

/** Events of an identity that were counted for a condition, in a JSON document of Postgres. */
export const CountedEvents = z.strictObject({
  identity_id: z.uuid(),
  condition_id: z.uuid(),
  /** Counted from 1970; of no meaning where the condition does not count by day. */
  day: z.int(),
  count: z.int(),
  first_at: Moment,
  last_at: Moment,
});

/** What late events added to one counter. */
const LateCount = CountedEvents.extend({
  /** The shortest time between one of the events and its receipt. */
  lag_ms: z.int(),
});
export type LateCount = z.output<typeof LateCount>;

/** Why a person changed, as notes of changes store it; null stands for something fresh. */
const Reason = z
  .discriminatedUnion('kind', [
    z.strictObject({
      kind: z.literal('late'),
      /** Whether every event that was counted was late. */
      is_alone: z.boolean(),
      counted: z.array(LateCount),
    }),
    z.strictObject({ kind: z.literal('made'), lag_ms: z.int() }),
    z.strictObject({ kind: z.literal('link'), own_profile_id: z.uuid() }),
    z.strictObject({ kind: z.literal('undo') }),
  ])
  .nullable()
  // A later release may note other reasons.
  .catch(null);

/** Why a person is evaluated. */
export type Reasons = {
  /** Who caused the changes, where that is known. */
  source: ChangeNotes['source'];
  /** Whether something happened that is neither late, nor a link, nor an undo. */
  isFresh: boolean;
  isUndo: boolean;
  /** How late the events were that made the person; null where something else did, or the person was there before. */
  madeLagMs: number | null;
  /** The own profiles of the devices that links brought. */
  movedIds: ReadonlySet<string>;
  late: readonly LateCount[];
};

/** Reads why a person changed from the notes of the changes. */
const readReasons = ({ source, reasons: noted }: ChangeNotes): Reasons => {
  const reasons = noted.map((reason) => (reason === null ? null : Reason.parse(reason)));
  const lags = reasons.flatMap((one) => (one?.kind === 'made' ? one.lag_ms : []));
  return {
    source,
    isFresh: reasons.some((one) => one === null || (one.kind === 'late' && !one.is_alone)),
    isUndo: reasons.some((one) => one?.kind === 'undo'),
    madeLagMs: lags.length === 0 ? null : Math.min(...lags),
    movedIds: new Set(reasons.flatMap((one) => (one?.kind === 'link' ? one.own_profile_id : []))),
    late: reasons.flatMap((one) => (one?.kind === 'late' ? one.counted : [])),
  };
};

type Source = ChangeNotes['source'];

/** Who caused changes together: a server all of them, or a browser any; null where that is not known. */
const mergeSources = (one: Source, other: Source): Source => {
  if (one === other) return one;
  return one === 'browser' || other === 'browser' ? 'browser' : null;
};

const unite = (one: Aspects, other: Aspects): Aspects =>
  one === null || other === null ? null : [...one, ...other];

/** Late events add up, and each other reason says the same however often it is noted. */
const unique = (reasons: ChangeNotes['reasons']): ChangeNotes['reasons'] => {
  const seen = new Set<string>();
  return reasons.filter((reason) => {
    if (Reason.parse(reason)?.kind === 'late') return true;
    const said = JSON.stringify(reason);
    const isKnown = seen.has(said);
    seen.add(said);
    return !isKnown;
  });
};

/** Adds to the notes of people those of an evaluation of them that failed. */
export const mergeNotes = (
  taken: ReadonlyMap<string, ChangeNotes>,
  postponed: ReadonlyMap<string, ChangeNotes>,
): Map<string, ChangeNotes> =>
  new Map(
    [...taken].map(([id, one]): [string, ChangeNotes] => {
      const before = postponed.get(id);
      if (!before) return [id, one];
      const source = mergeSources(one.source, before.source);
      const reasons = unique([...before.reasons, ...one.reasons]);
      return [id, { source, reasons, aspects: unite(one.aspects, before.aspects) }];
    }),
  );

/**
 * Adds to the notes of people what is noted and not taken yet: the evaluation may have seen that as well. A person
 * without other notes has nothing fresh.
 */
export const addPending = (
  notes: ReadonlyMap<string, ChangeNotes>,
  pending: ReadonlyMap<string, ChangeNotes['reasons']>,
): ReadonlyMap<string, ChangeNotes> => {
  const all = new Map(notes);
  for (const [id, reasons] of pending) {
    const own = notes.get(id);
    const { source = null, aspects = null } = own ?? {};
    all.set(id, { source, reasons: [...(own?.reasons ?? []), ...reasons], aspects });
  }
  return all;
};

/** Reads why people changed, by their profiles. */
export const readReasonsOf = (noted: ReadonlyMap<string, ChangeNotes>): Map<string, Reasons> =>
  new Map([...noted].map(([id, one]) => [id, readReasons(one)]));
