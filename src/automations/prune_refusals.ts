import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { FIRST_ID } from '../base/ids.ts';

/** How many refusals of entries one transaction of the daily job checks. */
export const PRUNED_REFUSALS_MAX = 500;

/** Where the first batch of a project begins. */
export const FIRST_REFUSAL = `${FIRST_ID}/${FIRST_ID}/`;

const Key = z.strictObject({ automation_id: z.uuid(), identity_id: z.uuid(), reason: z.string() });

/** The next refusals, by their keys. */
const listKeys = ({ tx, projectId }: Scope, [automationId, identityId, reason = '']: string[]) =>
  tx.any(sql.type(Key)`
    select automation_id, identity_id, reason from automations.refusals
    where project_id = ${projectId}
    and (project_id, automation_id, identity_id, reason) > (${projectId}::uuid, ${automationId ?? FIRST_ID}::uuid,
      ${identityId ?? FIRST_ID}::uuid, ${reason}::text)
    order by project_id, automation_id, identity_id, reason
    limit ${PRUNED_REFUSALS_MAX}
  `);

/**
 * Deletes the next refusals of entries from before a moment. The event, or the entry of the segment history, that was
 * refused is gone then, so there is nothing to explain. Refusals that are being changed are left for the next day.
 */
export const pruneRefusals = async (
  scope: Scope,
  before: Date,
  after: string,
): Promise<{ pruned: number; after: string | null }> => {
  const { tx, projectId } = scope;
  const keys = await listKeys(scope, after.split('/'));
  const column = (read: (key: z.output<typeof Key>) => string, type: string) =>
    sql.array(keys.map(read), type);
  const { rowCount } = await tx.query(sql.unsafe`
    with old as materialized (
      select known.automation_id, known.identity_id, known.reason
      from unnest(
        ${column((key) => key.automation_id, 'uuid')}, ${column((key) => key.identity_id, 'uuid')},
        ${column((key) => key.reason, 'text')}
      ) as asked (automation_id, identity_id, reason)
      join automations.refusals as known on known.automation_id = asked.automation_id
        and known.identity_id = asked.identity_id and known.reason = asked.reason
      where known.project_id = ${projectId} and known.refused_at < ${before.toISOString()}::timestamptz
      for update of known skip locked
    )
    delete from automations.refusals as refused
    using old
    where refused.project_id = ${projectId} and refused.automation_id = old.automation_id
    and refused.identity_id = old.identity_id and refused.reason = old.reason
  `);
  const last = keys.at(-1);
  const isEnd = keys.length < PRUNED_REFUSALS_MAX || last === undefined;
  return {
    pruned: rowCount,
    after: isEnd ? null : `${last.automation_id}/${last.identity_id}/${last.reason}`,
  };
};
