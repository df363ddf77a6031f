import { z } from 'zod';
import type { Noted } from '../profiles/profiles.ts';

/** A moment in a JSON document of Postgres. */
export const Moment = z.string().transform((text) => new Date(text));

/** What late events added to one counter. */
const LateCount = z.strictObject({
  identity_id: z.uuid(),
  condition_id: z.uuid(),
  /** Counted from 1970, as of the counter. */
  day: z.int(),
  count: z.int(),
  first_at: Moment,
  last_at: Moment,
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
  source: Noted['source'];
  /** Whether something happened that is neither late, nor a link, nor an undo. */
  isFresh: boolean;
  isUndo: boolean;
  /** How late the events were that made the person; null where something else did, or the person was there before. */
  madeLagMs: number | null;
  /** The own profiles of the devices that links brought. */
  movedIds: ReadonlySet<string>;
  late: readonly LateCount[];
};

const NOTHING: Reasons = {
  source: null,
  isFresh: false,
  isUndo: false,
  madeLagMs: null,
  movedIds: new Set(),
  late: [],
};

/** Reads why a person changed from the notes of the changes. */
export const readReasons = ({ source, reasons: noted }: Noted): Reasons => {
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

type Source = Noted['source'];

/** Who caused changes together: a server all of them, or a browser any; null where that is not known. */
const mergeSources = (one: Source, other: Source): Source => {
  if (one === other) return one;
  return one === 'browser' || other === 'browser' ? 'browser' : null;
};

/** Late events add up, and each other reason says the same however often it is noted. */
const unique = (reasons: Noted['reasons']): Noted['reasons'] => {
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
export const mergeNoted = (
  taken: ReadonlyMap<string, Noted>,
  postponed: ReadonlyMap<string, Noted>,
): Map<string, Noted> =>
  new Map(
    [...taken].map(([id, one]): [string, Noted] => {
      const before = postponed.get(id);
      if (!before) return [id, one];
      const source = mergeSources(one.source, before.source);
      return [id, { source, reasons: unique([...before.reasons, ...one.reasons]) }];
    }),
  );

/**
 * Adds to why people are evaluated what is noted and not taken yet: the evaluation may see that as well. Of a person
 * without other reasons, nothing fresh is known.
 */
export const addPending = (
  reasonsOf: ReadonlyMap<string, Reasons>,
  pending: ReadonlyMap<string, Noted['reasons']>,
): ReadonlyMap<string, Reasons> => {
  if (pending.size === 0) return reasonsOf;
  const all = new Map(reasonsOf);
  for (const [id, noted] of pending) {
    const more = readReasons({ source: null, reasons: noted });
    const own = all.get(id) ?? NOTHING;
    const lags = [own.madeLagMs, more.madeLagMs].filter((lag) => lag !== null);
    all.set(id, {
      source: own.source,
      isFresh: own.isFresh || more.isFresh,
      isUndo: own.isUndo || more.isUndo,
      madeLagMs: lags.length === 0 ? null : Math.min(...lags),
      movedIds: new Set([...own.movedIds, ...more.movedIds]),
      late: [...own.late, ...more.late],
    });
  }
  return all;
};

/** Reads why people changed, by their profiles. */
export const readReasonsOf = (noted: ReadonlyMap<string, Noted>): Map<string, Reasons> =>
  new Map([...noted].map(([id, one]) => [id, readReasons(one)]));
