import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { RESEND_AFTER_SECONDS } from './retry.ts';

const Settled = z.strictObject({ settle_lost: z.array(z.uuid()) });

/** Ends hand-offs of dead or silent owners as unknown; answers which. */
export const endLost = async (
  { tx, projectId }: Scope,
  deadOwners: string[],
  silentSeconds: number,
) => {
  const { settle_lost } = await tx.one(sql.type(Settled)`
    select settle_lost
    from delivery.settle_lost(
      project_id => ${projectId},
      dead_owners => ${sql.array(deadOwners, 'text')},
      silent_for => make_interval(secs => ${silentSeconds}),
      resend_after => make_interval(secs => ${RESEND_AFTER_SECONDS})
    )
  `);
  return settle_lost;
};

const Held = z.strictObject({ hold_restored: z.int() });

/** How many sends one transaction ends as restored. */
const HOLD_RESTORED_MAX = 1_000;

/**
 * Ends sends that waited when a backup was restored and were due by then as unknown, as many as one transaction
 * does. Answers how many: none when there is none left.
 */
export const holdRestored = async ({ tx, projectId }: Scope, restoredAt: Date): Promise<number> => {
  const { hold_restored } = await tx.one(sql.type(Held)`
    select hold_restored
    from delivery.hold_restored(
      project_id => ${projectId},
      restored_at => ${sql.timestamp(restoredAt)},
      resend_after => make_interval(secs => ${RESEND_AFTER_SECONDS}),
      sends_max => ${HOLD_RESTORED_MAX}
    )
  `);
  return hold_restored;
};
