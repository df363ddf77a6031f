import { earlier } from '../clock.ts';
import type { ReEntry } from '../schema.ts';

/** What the re-entry rule compares of a run. */
export type Enrollment = {
  run_id: string;
  identity_id: string;
  started_at: Date;
  entry_key: string;
};

/** A run that belongs to the same person as another one. */
export type OtherRun = Enrollment & { outcome: string | null };

/** The outcome of a run that ended because an older run of its person continues. */
export const MERGED = 'merged';

const PROPERTY_KEY = /^property\/[^/]+\/(.+)$/;

/** Returns the digest of the property value that a run was enrolled by; null of a run enrolled by another rule. */
export const valueDigestOf = ({ entry_key }: Pick<Enrollment, 'entry_key'>): string | null =>
  PROPERTY_KEY.exec(entry_key)?.[1] ?? null;

/** Returns whether the first run was enrolled before the second. */
export const isOlder = (a: Enrollment, b: Enrollment): boolean =>
  a.started_at.getTime() === b.started_at.getTime()
    ? a.run_id < b.run_id
    : a.started_at < b.started_at;

/**
 * Returns whether a re-entry rule allows only one of two runs, now that one person has both. Two runs of one identity
 * passed the rule when they were enrolled.
 */
export const areExclusive = (reEntry: ReEntry, run: Enrollment, other: Enrollment): boolean => {
  if (other.identity_id === run.identity_id || reEntry === 'every_time') return false;
  if (reEntry === 'once') return true;
  if ('by_property' in reEntry) {
    const digest = valueDigestOf(run);
    return digest !== null && digest === valueDigestOf(other);
  }
  const [first, second] = isOlder(run, other) ? [run, other] : [other, run];
  return first.started_at > earlier(second.started_at, reEntry.once_per, 'UTC');
};

/**
 * Returns the oldest run that leaves no room for a run, or null. A run that ended as merged leaves room: its person was
 * enrolled by another one.
 */
export const findBlocking = <Other extends OtherRun>(
  reEntry: ReEntry,
  run: Enrollment,
  others: readonly Other[],
): Other | null =>
  others
    .filter((other) => other.outcome !== MERGED)
    .filter((other) => isOlder(other, run) && areExclusive(reEntry, run, other))
    .reduce<Other | null>(
      (oldest, one) => (oldest === null || isOlder(one, oldest) ? one : oldest),
      null,
    );
