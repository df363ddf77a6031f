import { inProject } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { firstIdAt } from '../base/ids.ts';
import { projectProcedure, router } from '../base/procedure.ts';
import * as delivery from '../delivery/delivery.ts';
import * as ingest from '../ingest/ingest.ts';

export const OVERVIEW_HOURS = 24;
/** An overview counts this many of the newest events and sends, so that its cost is bounded; past it, it says so. */
export const OVERVIEW_ROWS_MAX = 100_000;
const HOUR_MS = 3_600_000;

/** The beginnings of the last hours, oldest first; the last is the hour that is running. */
const hoursUntil = (now: number): Date[] => {
  const running = Math.floor(now / HOUR_MS);
  return Array.from(
    { length: OVERVIEW_HOURS },
    (_, at) => new Date((running - OVERVIEW_HOURS + 1 + at) * HOUR_MS),
  );
};

const sum = (numbers: readonly number[]): number =>
  numbers.reduce((left, right) => left + right, 0);

/**
 * What happened in the last 24 hours, by the hour. Rows are found by the time that is in their ids:
 * events by when they arrived, sends by when they were planned.
 */
export const readOverview = async (scope: Scope, now: number, rowsMax = OVERVIEW_ROWS_MAX) => {
  const hours = hoursUntil(now);
  const ids = hours.map(firstIdAt);
  const events = await ingest.countBetween(scope, ids, rowsMax);
  const sends = await delivery.countBetween(scope, ids, rowsMax);
  const eventsIn = new Map(events.map((row) => [row.bucket, row.events]));
  const acceptedIn = new Map(sends.map((row) => [row.bucket, row.accepted]));
  return {
    events: sum(events.map((row) => row.events)),
    accepted: sum(sends.map((row) => row.accepted)),
    bounced: sum(sends.map((row) => row.bounced)),
    suppressed: sum(sends.map((row) => row.suppressed)),
    is_capped: [events.map((row) => row.events), sends.map((row) => row.sends)].some(
      (counts) => sum(counts) >= rowsMax,
    ),
    hours: hours.map((hour, at) => ({
      hour: hour.toISOString(),
      events: eventsIn.get(at + 1) ?? 0,
      accepted: acceptedIn.get(at + 1) ?? 0,
    })),
  };
};

export const overviewProcedures = router({
  read: projectProcedure.query(({ ctx, input }) =>
    inProject(ctx.deps, input.projectId, (scope) => readOverview(scope, Date.now())),
  ),
});
