import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';

const Page = z.strictObject({ last: z.int().nullable(), count: z.int() });

type Old = { after: number; readTo: number | null; monthsBack: number };

/** The next entries that are of months before the timeline begins, and were read by whoever reads the history. */
export const findOldEntries = (
  { tx, projectId }: Scope,
  { after, readTo, monthsBack }: Old,
  limit: number,
) => {
  const read = readTo === null ? sql.fragment`` : sql.fragment`and entry <= ${readTo}::bigint`;
  // Entries are in the order of their times, so the first that is too young ends the page.
  return tx.one(sql.type(Page)`
    select max(page.entry) as last, count(*) as count
    from (
      select entry, changed_at from segments.history
      where project_id = ${projectId} and entry > ${after}::bigint ${read}
      order by entry
      limit ${limit}
    ) as page
    where page.changed_at < date_trunc('month', now() at time zone 'UTC' - make_interval(months => ${monthsBack}))
      at time zone 'UTC'
  `);
};

type Spent = { after: number; last: number; since: readonly { segment_id: string; since: Date }[] };

/** Deletes entries of a range after which the same happened to the same person again, unless they are needed. */
export const deleteEntries = async (
  { tx, projectId }: Scope,
  { after, last, since }: Spent,
): Promise<number> => {
  const { rowCount } = await tx.query(sql.unsafe`
    delete from segments.history as told
    where told.project_id = ${projectId} and told.entry > ${after}::bigint and told.entry <= ${last}::bigint
    and exists (
      select from segments.history as later
      where later.project_id = ${projectId} and later.profile_id = told.profile_id
      and later.segment_id = told.segment_id and later.change = told.change and later.entry > told.entry
    )
    and not exists (
      select from unnest(
        ${sql.array(
          since.map(({ segment_id }) => segment_id),
          'uuid',
        )},
        ${sql.array(
          since.map((one) => one.since.toISOString()),
          'timestamptz',
        )}
      ) as needed (segment_id, since)
      where needed.segment_id = told.segment_id and told.changed_at >= needed.since
    )
  `);
  return rowCount;
};
