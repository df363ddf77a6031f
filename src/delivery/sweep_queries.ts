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
