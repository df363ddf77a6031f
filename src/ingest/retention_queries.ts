import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Db, Scope } from '../base/db.ts';

const Expiry = z.strictObject({ until: z.date().nullable() });
const Forgotten = z.strictObject({ last_id: z.uuid().nullable() });

export const findExpiry = (db: Db, monthsBack: number) =>
  db.one(sql.type(Expiry)`
    select max(ends_at) as until
    from ingest.expired_partitions(
      before => date_trunc('month', now() at time zone 'UTC' - make_interval(months => ${monthsBack}))
        at time zone 'UTC'
    )
  `);

type Batch = { before: Date; after: string; idsMax: number };

/** The last id that was looked at, or null when there was none left. */
export const forgetIdsAfter = async (
  { tx, projectId }: Scope,
  { before, after, idsMax }: Batch,
): Promise<string | null> => {
  const { last_id } = await tx.one(sql.type(Forgotten)`
    select ingest.forget_message_ids(
      project_id => ${projectId},
      before => ${sql.timestamp(before)},
      after => ${after},
      ids_max => ${idsMax}
    ) as last_id
  `);
  return last_id;
};
