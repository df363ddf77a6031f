import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { FIRST_ID } from '../base/ids.ts';

/** Begins to look at everybody for the newest definition; the one before counts for whom the fill has not reached. */
export const startFill = ({ tx, projectId }: Scope, segmentId: string) =>
  tx.query(sql.unsafe`
    update segments.segments
    set status = 'filling', former_version = active_version, active_version = version, filled_to = ${FIRST_ID},
      filling_since = statement_timestamp(), examined_count = 0
    where project_id = ${projectId} and segment_id = ${segmentId} and status = 'counting'
  `);

/** A segment that nobody can be in yet needs no look at everybody. */
export const openStatic = ({ tx, projectId }: Scope, segmentId: string) =>
  tx.query(sql.unsafe`
    update segments.segments
    set status = 'ready', active_version = version, filled_at = statement_timestamp()
    where project_id = ${projectId} and segment_id = ${segmentId} and status = 'counting'
  `);

/** How far a fill has come. What is examined for a version that is not the newest any more is told to nobody. */
export const moveFill = (
  { tx, projectId }: Scope,
  segmentId: string,
  { filledTo, examined }: { filledTo: string; examined: number },
) =>
  tx.query(sql.unsafe`
    update segments.segments
    set filled_to = ${filledTo},
      examined_count = examined_count + case when status = 'filling' then ${examined}::integer else 0 end
    where project_id = ${projectId} and segment_id = ${segmentId} and filled_to is not null
  `);

export const endFill = ({ tx, projectId }: Scope, segmentId: string, examined: number) =>
  tx.query(sql.unsafe`
    update segments.segments
    set status = case when status = 'filling' then 'ready' else status end, filled_to = null, filling_since = null,
      former_version = null, filled_at = now(),
      examined_count = examined_count + case when status = 'filling' then ${examined}::integer else 0 end
    where project_id = ${projectId} and segment_id = ${segmentId} and filled_to is not null
  `);

const Page = z.strictObject({ profile_id: z.uuid() });

type Mark = { filledTo: string; fillingSince: Date | null };

/**
 * The next profiles that a fill looks at, in the order of their ids, living or not. Who was made since it began
 * was not there to be found: they are looked at as those who changed.
 */
export const listToFill = async (
  { tx, projectId }: Scope,
  { filledTo, fillingSince }: Mark,
  limit: number,
): Promise<string[]> => {
  const there =
    fillingSince === null
      ? sql.fragment``
      : sql.fragment`and created_at <= ${sql.timestamp(fillingSince)}`;
  const rows = await tx.any(sql.type(Page)`
    select profile_id from profiles.profiles
    where project_id = ${projectId} and profile_id > ${filledTo} ${there}
    order by profile_id
    limit ${limit}
  `);
  return rows.map(({ profile_id }) => profile_id);
};
