import type { KeyKind } from '../base/caller.ts';

export const FUTURE_HOURS_MAX = 24;
/** A browser's clock and a page's key are trusted less. */
export const PUBLISHABLE_DAYS_BACK_MAX = 30;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The oldest moment that an event may have occurred at, for a server key. */
export const timelineStart = (now: Date, retentionMonths: number): Date => {
  const start = new Date(now);
  start.setUTCMonth(start.getUTCMonth() - retentionMonths);
  return start;
};

/** Who writes, and how many months the timeline reaches back: no further than there are partitions. */
export type Reach = { keyKind: KeyKind; retentionMonths: number };

/** What the times of a request are held to, in milliseconds: the same for all of its events. */
export const boundsAt = (now: Date, { keyKind, retentionMonths }: Reach) => ({
  retentionMonths,
  latest: now.getTime() + FUTURE_HOURS_MAX * HOUR_MS,
  earliest: timelineStart(now, retentionMonths).getTime(),
  earliestOfPages:
    keyKind === 'publishable' ? now.getTime() - PUBLISHABLE_DAYS_BACK_MAX * DAY_MS : -Infinity,
});
export type Bounds = ReturnType<typeof boundsAt>;

/** Why an event of this time is not accepted, or null when it is. */
export const checkOccurredAt = (
  occurredAt: Date,
  { retentionMonths, latest, earliest, earliestOfPages }: Bounds,
): string | null => {
  const at = occurredAt.getTime();
  if (at > latest) return `more than ${FUTURE_HOURS_MAX} hours ahead of the server's clock`;
  if (at < earliest) return `before the start of the timeline (${retentionMonths} months back)`;
  return at < earliestOfPages
    ? `a publishable key reaches at most ${PUBLISHABLE_DAYS_BACK_MAX} days back`
    : null;
};

/** A client's clock that differs from ours by less is taken as right. */
export const CLOCK_DIFFERENCE_MAX_MS = 5 * 60 * 1_000;

/** What to add to a client's times: how far its clock was off when it sent them, if it was at all. */
export const clockCorrectionMs = (sentAt: Date, receivedAt: Date): number => {
  const difference = receivedAt.getTime() - sentAt.getTime();
  return Math.abs(difference) > CLOCK_DIFFERENCE_MAX_MS ? difference : 0;
};
