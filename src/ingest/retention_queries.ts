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

const IdentityId = z.strictObject({ identity_id: z.uuid() });

/**
 * Returns those of some people who have events under their anonymous id, processed or not, and those whose device was
 * seen with a person: an erase finds the events that name both by their identity.
 */
export const listWithEvents = async (
  { tx, projectId }: Scope,
  people: readonly { identity_id: string; value: string }[],
): Promise<Set<string>> => {
  const rows = await tx.any(sql.type(IdentityId)`
    select asked.identity_id
    from unnest(
      ${sql.array(
        people.map(({ identity_id }) => identity_id),
        'uuid',
      )},
      ${sql.array(
        people.map(({ value }) => value),
        'text',
      )}
    ) as asked (identity_id, anonymous_id)
    cross join lateral (
      (
        select from ingest.devices as device
        where device.project_id = ${projectId} and device.anonymous_id = asked.anonymous_id
        limit 1
      )
      union all
      (
        select from ingest.events as event
        where event.project_id = ${projectId} and event.external_id is null
        and event.anonymous_id = asked.anonymous_id
        limit 1
      )
      limit 1
    ) as named
  `);
  return new Set(rows.map(({ identity_id }) => identity_id));
};
