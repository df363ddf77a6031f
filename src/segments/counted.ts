import { countedOfEach } from '../base/counted_of_each.ts';
import type { Scope } from '../base/db.ts';
import { countChangesByDay, countMembersOf } from './count_queries.ts';
import type { SegmentRow } from './record_queries.ts';
import { toSegment } from './shown.ts';

/** How far members are counted. */
export const COUNTED_MEMBERS = { each: 100_000, together: 200_000 };
/** A chart shows so many days, of so many of the last who came and went. */
export const CHART_DAYS = 30;
export const CHART_ENTRIES_MAX = 20_000;
const DAY_MS = 86_400_000;

/** Segments with how many are in each: so many, or, where it is capped, more. */
export const withMembers = async (
  scope: Scope,
  rows: readonly SegmentRow[],
  membersMax = countedOfEach(COUNTED_MEMBERS, rows.length),
) => {
  const ids = rows.map(({ segment_id }) => segment_id);
  const counted = new Map(
    (await countMembersOf(scope, ids, membersMax + 1)).map((row) => [row.segment_id, row.members]),
  );
  const items = [];
  for (const row of rows) {
    const found = counted.get(row.segment_id) ?? 0;
    const counts = { members: Math.min(found, membersMax), is_capped: found > membersMax };
    items.push({ ...(await toSegment(scope, row)), ...counts });
  }
  return items;
};

/**
 * Who came and went, day by day. Where it is capped, the first of the days is told in part, and of those before it
 * nothing is known.
 */
export const readDays = async (scope: Scope, segmentId: string, entriesMax = CHART_ENTRIES_MAX) => {
  const since = new Date(Date.now() - CHART_DAYS * DAY_MS).toISOString();
  const items = await countChangesByDay(scope, segmentId, { since, entriesMax });
  const changes = items.reduce((sum, { entered, left }) => sum + entered + left, 0);
  return { items: [...items], is_capped: changes >= entriesMax };
};
