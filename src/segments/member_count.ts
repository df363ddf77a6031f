import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';

const Counted = z.strictObject({ count: z.int() });

/** Counts the members after an id. */
export const countMembers = async (
  { tx, projectId }: Scope,
  segmentId: string,
  afterId: string,
): Promise<number> =>
  (
    await tx.one(sql.type(Counted)`
      select count(*)::int as count from segments.members
      where project_id = ${projectId} and segment_id = ${segmentId} and profile_id > ${afterId}
    `)
  ).count;
