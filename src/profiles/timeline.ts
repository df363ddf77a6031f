import { z } from 'zod';
import type { Scope } from '../base/db.ts';
import { FIRST_ID } from '../base/ids.ts';
import { readCursor, toCursor, toPage } from '../base/page.ts';
import type { PageQuery } from '../base/page.ts';
import * as ingest from '../ingest/ingest.ts';
import type { Entry } from '../ingest/ingest.ts';
import { stretchesOf } from './months.ts';
import type { Range } from './months.ts';
import { findPerson, listNewestOf } from './timeline_queries.ts';
import type { Known, Person, Position, Read, Reading, Source } from './timeline_queries.ts';

/** How much is read for a page. */
export const EFFORT = {
  /** How many events one statement looks at, of all identifiers together. */
  eventsPerStatement: 2_000,
  /** How many events a page of one event name looks at before it ends, however few it has found. */
  eventsPerPageMax: 10_000,
};
const DAY_MS = 86_400_000;

const PositionInCursor = z.tuple([z.iso.datetime(), z.uuid()]);

/** What of a timeline is asked for: one event name, a stretch of time (RFC 3339, exclusive), or all. */
export type TimelineQuery = PageQuery & Pick<Reading, 'event' | 'after' | 'before'>;

/** A page while it is read: what was found, newest first, and how much was looked at for it. */
type Walk = {
  readonly scope: Scope;
  readonly query: TimelineQuery;
  readonly effort: typeof EFFORT;
  /** One more than the page holds, to know whether there is a next. */
  readonly wanted: number;
  found: Entry[];
  lookedAt: number;
};

/** Negative when `a` comes first: it is the newer. */
const newestFirst = (a: Position, b: Position): number => {
  const later = b.occurred_at.getTime() - a.occurred_at.getTime();
  if (later !== 0 || a.event_id === b.event_id) return later;
  return a.event_id < b.event_id ? 1 : -1;
};

/** Whether what is older than a position could still be on the page. */
const mayMatter = ({ found, wanted }: Walk, position: Position): boolean => {
  const last = found[wanted - 1];
  return last === undefined || newestFirst(position, last) < 0;
};

const toEntry = (row: Read): Entry => {
  const { of_source: _, place: __, ...entry } = row;
  return entry;
};

/** Reads a share of each source; answers with those that have more, each from where it was left. */
const readOn = async (
  walk: Walk,
  sources: readonly Source[],
  reading: Reading,
): Promise<Source[]> => {
  const rows = await listNewestOf(walk.scope, sources, reading);
  const { event } = walk.query;
  const matching = rows.filter((row) => event === undefined || row.event === event).map(toEntry);
  walk.found = [...walk.found, ...matching].toSorted(newestFirst).slice(0, walk.wanted);
  return rows.flatMap((row) => {
    const source = sources[row.of_source];
    return row.place === reading.share && source ? [{ ...source, position: row }] : [];
  });
};

/**
 * Reads a stretch of time until nothing in it can be on the page any more: null. Or until enough was
 * looked at for one page: answers the position that everything newer than was read of.
 */
const readStretch = async (
  walk: Walk,
  { from, to }: Range,
  sources: readonly Source[],
): Promise<Position | null> => {
  const { event, after, before } = walk.query;
  const { eventsPerStatement, eventsPerPageMax } = walk.effort;
  const most = event === undefined ? walk.wanted - walk.found.length : eventsPerStatement;
  let open = [...sources];
  for (;;) {
    open = open.filter(({ position }) => mayMatter(walk, position));
    if (open.length === 0) return null;
    if (event !== undefined && walk.lookedAt >= eventsPerPageMax)
      return open.map(({ position }) => position).toSorted(newestFirst)[0] ?? null;
    const share = Math.min(most, Math.ceil(eventsPerStatement / open.length));
    open = await readOn(walk, open, { from, to, share, event, after, before });
    walk.lookedAt += open.length * share;
  }
};

const isIn = ({ from, to }: Range, stretch: Range): boolean =>
  from < stretch.to && to >= stretch.from;

/** Nothing that names somebody who was never seen has been processed. */
const rangesOf = ({ first_seen_at: from, latest_at: to }: Known): Range[] =>
  from && to ? [{ from, to }] : [];

/**
 * When what waits to be processed most likely occurred. Of work that waits nobody knows whose it is, so this is
 * all that is looked at on its account: what occurred long ago is there as soon as it was processed.
 */
const justNow = (): Range => {
  const now = Date.now();
  return { from: new Date(now - DAY_MS), to: new Date(now + DAY_MS) };
};

/** One stretch of months after another, newest first, each over the identifiers that were seen in it. */
const walkBack = async (
  walk: Walk,
  { identities, isWorkWaiting }: Person,
  start: Position | null,
): Promise<Position | null> => {
  const { query } = walk;
  const waiting = isWorkWaiting ? justNow() : null;
  const ends = [start?.occurred_at, query.before && new Date(query.before)].filter(
    (end) => end instanceof Date,
  );
  const bounds = {
    ...(query.after === undefined ? {} : { from: new Date(query.after) }),
    ...(ends.length === 0 ? {} : { to: new Date(Math.min(...ends.map(Number))) }),
  };
  const ranges = [...identities.flatMap(rangesOf), ...(waiting === null ? [] : [waiting])];
  for (const stretch of stretchesOf(ranges, bounds)) {
    const isAnybodys = waiting !== null && isIn(waiting, stretch);
    const seen = identities.filter(
      (known) => isAnybodys || rangesOf(known).some((range) => isIn(range, stretch)),
    );
    const end = { occurred_at: stretch.to, event_id: FIRST_ID };
    const position = start !== null && newestFirst(end, start) < 0 ? start : end;
    const sources = seen.map(({ kind, value }) => ({ kind, value, position }));
    const stoppedAt = await readStretch(walk, stretch, sources);
    if (stoppedAt !== null) return stoppedAt;
    if (walk.found.length === walk.wanted) return null;
  }
  return null;
};

/**
 * One page of a person's timeline as the API shows it, newest first, read over the identities they have
 * today. Opens months from the newest on and only as far as it must. A page of one event name ends when
 * it has looked at enough: it may hold fewer entries than asked for, or none, and still have a next.
 *
 * What was processed before the first page is on one of the pages, once. What was not is there before its
 * time when it occurred lately, or while the person was seen.
 */
export const pageOfPerson = async (
  scope: Scope,
  person: Person,
  query: TimelineQuery,
  effort = EFFORT,
) => {
  const cursor = readCursor(PositionInCursor, query.cursor);
  const start = cursor && { occurred_at: new Date(cursor[0]), event_id: cursor[1] };
  const walk: Walk = { scope, query, effort, wanted: query.limit + 1, found: [], lookedAt: 0 };
  const stoppedAt = await walkBack(walk, person, start);
  const toPosition = (at: Position): string[] => [at.occurred_at.toISOString(), at.event_id];
  if (stoppedAt === null) {
    return toPage(walk.found, query.limit, { item: ingest.toEntry, position: toPosition });
  }
  // What is older than this was not yet looked for under every identifier.
  const sure = walk.found.filter((entry) => newestFirst(entry, stoppedAt) <= 0);
  return { items: sure.map(ingest.toEntry), next_cursor: toCursor(toPosition(stoppedAt)) };
};

/** The same of whom a profile's id names; nothing when there is nobody. */
export const pageTimeline = async (
  scope: Scope,
  profileId: string,
  query: TimelineQuery,
  effort = EFFORT,
) => {
  const person = await findPerson(scope, { by: 'id', value: profileId });
  return pageOfPerson(scope, person ?? { identities: [], isWorkWaiting: false }, query, effort);
};
