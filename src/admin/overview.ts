import { z } from 'zod';
import { inProject } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { firstIdAt } from '../base/ids.ts';
import { projectProcedure, router } from '../base/procedure.ts';
import * as delivery from '../delivery/delivery.ts';
import * as ingest from '../ingest/ingest.ts';

const HOUR_MS = 3_600_000;

/**
 * How far an overview looks back, in buckets of how many hours (of UTC), and how many of the newest events and sends
 * it counts: so its cost is bounded, and past it, it says so.
 */
export const OVERVIEW_SPANS = {
  day: { buckets: 24, hours: 1, rowsMax: 100_000 },
  week: { buckets: 28, hours: 6, rowsMax: 200_000 },
  month: { buckets: 30, hours: 24, rowsMax: 200_000 },
} as const;
export type OverviewSpan = keyof typeof OVERVIEW_SPANS;

/** The beginnings of the last buckets, oldest first; the last is the one that is running. */
const bucketsUntil = (now: number, { buckets, hours }: { buckets: number; hours: number }) => {
  const lengthMs = hours * HOUR_MS;
  const running = Math.floor(now / lengthMs);
  return Array.from(
    { length: buckets },
    (_, at) => new Date((running - buckets + 1 + at) * lengthMs),
  );
};

const sum = (numbers: readonly number[]): number =>
  numbers.reduce((left, right) => left + right, 0);

/**
 * What was counted in the bucket at an index. Where the count was cut, nothing is known of what lies before the oldest
 * row that was counted: null, and not zero.
 */
const readerOf = <Row extends { bucket: number }>(rows: readonly Row[], isCut: boolean) => {
  const of = new Map(rows.map((row) => [row.bucket, row]));
  const oldest = isCut ? Math.min(...rows.map(({ bucket }) => bucket)) : 0;
  return (at: number, read: (row: Row) => number): number | null => {
    const row = of.get(at + 1);
    if (row) return read(row);
    return at + 1 < oldest ? null : 0;
  };
};

type Asked = { span?: OverviewSpan | undefined; rowsMax?: number };

/**
 * What happened lately. Rows are found by the time that is in their ids: events by when they arrived, sends by when
 * they were planned; each over a session of its own, or whoever looks would wait for one after the other.
 */
export const readOverview = async (
  deps: Pick<Deps, 'db' | 'keys'>,
  projectId: string,
  now: number,
  { span = 'day', rowsMax = OVERVIEW_SPANS[span].rowsMax }: Asked = {},
) => {
  const buckets = bucketsUntil(now, OVERVIEW_SPANS[span]);
  const ids = buckets.map(firstIdAt);
  const within = <T>(count: (scope: Scope) => Promise<T>) => inProject(deps, projectId, count);
  const [events, sends, unknown, gone, waiting] = await Promise.all([
    within((scope) => ingest.countBetween(scope, ids, rowsMax)),
    within((scope) => delivery.countBetween(scope, ids, rowsMax)),
    within((scope) => delivery.countUnknown(scope)),
    within((scope) => delivery.countProviderGone(scope, firstIdAt(buckets[0] ?? new Date(now)))),
    within((scope) => delivery.countUnconfirmedWaiting(scope)),
  ]);
  const total = {
    events: sum(events.map((row) => row.events)),
    sends: sum(sends.map((row) => row.sends)),
  };
  const capped = {
    events: total.events >= rowsMax,
    sends: total.sends >= rowsMax,
    unknown: unknown >= delivery.UNKNOWN_COUNTED_MAX,
    provider_gone: gone.isCapped,
    unconfirmed_waiting: waiting.isCapped,
  };
  const eventsIn = readerOf(events, capped.events);
  const sendsIn = readerOf(sends, capped.sends);
  return {
    events: total.events,
    accepted: sum(sends.map((row) => row.accepted)),
    bounced: sum(sends.map((row) => row.bounced)),
    complained: sum(sends.map((row) => row.complained)),
    suppressed: sum(sends.map((row) => row.suppressed)),
    not_accepted: sum(sends.map((row) => row.not_accepted)),
    /** Of those that were not accepted: refused as a bounce, and so counted as bounced, too. */
    not_accepted_bounced: sum(sends.map((row) => row.not_accepted_bounced)),
    /** Of which nobody knows whether their provider took them, whenever they were planned. */
    unknown,
    /** Cancelled, because their provider was deleted. */
    provider_gone: gone.count,
    /** To addresses that only browsers asserted: they wait for the hourly budget. */
    unconfirmed_waiting: waiting.count,
    /** Which of these numbers are bounds: there may be more. */
    capped,
    buckets: buckets.map((begins, at) => ({
      at: begins.toISOString(),
      events: eventsIn(at, (row) => row.events),
      accepted: sendsIn(at, (row) => row.accepted),
      bounced: sendsIn(at, (row) => row.bounced),
      complained: sendsIn(at, (row) => row.complained),
    })),
  };
};

const Span = z.object({ span: z.enum(['day', 'week', 'month']).default('day') });

export const overviewProcedures = router({
  read: projectProcedure
    .input(Span)
    .query(({ ctx, input: { projectId, span } }) =>
      readOverview(ctx.deps, projectId, Date.now(), { span }),
    ),
});
