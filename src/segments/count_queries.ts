import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';

const Counted = z.strictObject({ segment_id: z.uuid(), members: z.int() });

/** How many members each segment has, counted up to `membersMax`. */
export const countMembersOf = (
  { tx, projectId }: Scope,
  segmentIds: readonly string[],
  membersMax: number,
) =>
  tx.any(sql.type(Counted)`
    select asked.segment_id, counted.members
    from unnest(${sql.array([...segmentIds], 'uuid')}) as asked (segment_id)
    cross join lateral (
      select count(*) as members from (
        select from segments.members as member
        where member.project_id = ${projectId} and member.segment_id = asked.segment_id
        limit ${membersMax}
      ) as found
    ) as counted
  `);

const Day = z.strictObject({ day: z.string(), entered: z.int(), left: z.int() });

/** How many came and went on each day (UTC) since then, of the last entries of a history, at most `entriesMax`. */
export const countChangesByDay = (
  { tx, projectId }: Scope,
  segmentId: string,
  { since, entriesMax }: { since: string; entriesMax: number },
) =>
  tx.any(sql.type(Day)`
    select to_char(last.day, 'YYYY-MM-DD') as day,
      count(*) filter (where last.change = 'entered') as entered,
      count(*) filter (where last.change = 'left') as left
    from (
      select (changed_at at time zone 'UTC')::date as day, changed_at, change from segments.history
      where project_id = ${projectId} and segment_id = ${segmentId}
      order by entry desc
      limit ${entriesMax}
    ) as last
    where last.changed_at >= ${since}::timestamptz
    group by last.day
    order by last.day
  `);

const Import = z.strictObject({
  import_id: z.uuid(),
  people: z.int(),
  imported_at: z.date(),
  undone_at: z.date().nullable(),
});

/** The last lists that were imported into a segment. */
export const listImportsInto = ({ tx, projectId }: Scope, segmentId: string, importsMax: number) =>
  tx.any(sql.type(Import)`
    select import_id, people, imported_at, undone_at from segments.imports
    where project_id = ${projectId} and segment_id = ${segmentId}
    order by imported_at desc, import_id
    limit ${importsMax}
  `);
