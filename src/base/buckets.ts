import type { FragmentSqlToken } from 'slonik';
import { sql } from './db.ts';
import { LAST_ID } from './ids.ts';

/**
 * Two tables for a recursive `with`: `asked` has the bounds of each bucket, from `first_id` to before `next_id` and the
 * last open; `counted` has how many rows each holds. Counted from the last bucket to the first until there is no room:
 * they are the newest rows, and within a bucket in no order, which an index alone can do. `rows` says which are of
 * `asked`, beginning with `from`.
 */
export const countBuckets = (ids: readonly string[], rowsMax: number, rows: FragmentSqlToken) =>
  sql.fragment`
    asked as (
      select place::int as bucket, first_id, lead(first_id, 1, ${LAST_ID}::uuid) over (order by place) as next_id
      from unnest(${sql.array([...ids], 'uuid')}) with ordinality as given (first_id, place)
    ), counted as (
      select ${ids.length + 1}::int as bucket, 0::bigint as held, ${rowsMax}::bigint as room
      union all
      select asked.bucket, found.held, counted.room - found.held
      from counted
      join asked on asked.bucket = counted.bucket - 1
      cross join lateral (
        select count(*) as held from (select ${rows} limit counted.room) as within
      ) as found
      where counted.room > 0
    )
  `;
