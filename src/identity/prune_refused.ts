import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { firstIdAt } from '../base/ids.ts';

/** How many refused links one transaction of the daily job deletes. */
export const PRUNED_LINKS_MAX = 200;

const Deleted = z.strictObject({ link_id: z.uuid() });

/**
 * Deletes the oldest refused links from before a moment. Links that stand and undone ones stay: a browser does not make
 * a link again that was undone.
 */
export const pruneRefusedLinks = async (
  { tx, projectId }: Scope,
  before: Date,
  after: string,
): Promise<{ pruned: number; after: string | null }> => {
  const rows = await tx.any(sql.type(Deleted)`
    delete from identity.links
    where project_id = ${projectId} and link_id = any (array(
      select link_id from identity.links
      where project_id = ${projectId} and status = 'refused' and link_id > ${after} and link_id < ${firstIdAt(before)}
      order by link_id
      limit ${PRUNED_LINKS_MAX}
      for update skip locked
    ))
    returning link_id
  `);
  const last = rows
    .map(({ link_id }) => link_id)
    .toSorted()
    .at(-1);
  return { pruned: rows.length, after: rows.length < PRUNED_LINKS_MAX ? null : (last ?? null) };
};
