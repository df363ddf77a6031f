import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Db, Scope } from '../base/db.ts';

const Months = z.strictObject({ is_there: z.boolean() });
const Beginning = z.strictObject({ begins_at: z.date() });
const Expiry = z.strictObject({ until: z.date().nullable() });
const Forgotten = z.strictObject({ last_id: z.uuid().nullable() });

export const isEveryMonthThere = (
  db: Db,
  { monthsBack, hoursAhead }: { monthsBack: number; hoursAhead: number },
) =>
  db.one(sql.type(Months)`
    select not exists (
      select from generate_series(
        date_trunc('month', now() at time zone 'UTC' - make_interval(months => ${monthsBack})),
        now() at time zone 'UTC' + make_interval(hours => ${hoursAhead}),
        interval '1 month'
      ) as month
      where to_regclass(to_char(month, '"ingest.events_"YYYYMM')) is null
    ) as is_there
  `);

/** When the oldest month begins that is there. */
export const getBeginning = ({ tx }: Scope) =>
  tx.one(sql.type(Beginning)`
    select (min(ends_at) at time zone 'UTC' - interval '1 month') at time zone 'UTC' as begins_at
    from ingest.expired_partitions(before => 'infinity')
  `);

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
