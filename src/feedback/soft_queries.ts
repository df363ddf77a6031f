import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { HAND_OFF, MAILBOX } from './teller.ts';

/** The newest soft bounces of an address that are looked at. */
const SOFT_BOUNCES_SEEN_MAX = 1_000;

const isSoft = sql.fragment`soft.kind = 'bounced' and soft.bounce_type = 'soft' and not soft.is_test`;

const Counted = z.strictObject({ address_key: z.instanceof(Buffer) });

/** Those of some addresses that have so many soft bounces at all: of the others nothing else needs to be read. */
export const listSoftBounced = (
  { tx, projectId }: Scope,
  addressKeys: readonly Buffer[],
  count: number,
) =>
  tx.any(sql.type(Counted)`
    select told.address_key
    from unnest(${sql.array([...addressKeys], 'bytea')}) as told (address_key)
    cross join lateral (
      select from feedback.notices as soft
      where soft.project_id = ${projectId} and soft.address_key = told.address_key and ${isSoft}
      offset ${count - 1}
      limit 1
    ) as enough
  `);

const TooMany = z.strictObject({
  address_key: z.instanceof(Buffer),
  since: z.date(),
  source: z.string(),
  send_id: z.uuid().nullable(),
});

const said = `${HAND_OFF}%`;
const mailed = `${MAILBOX}%`;

/** A bounce counts once: as the hand-off said it, else as a webhook reported it, else as it came by email. */
const isFirstReport = (projectId: string) => sql.fragment`
  (soft.source like ${said} or not exists (
    select from feedback.notices as said
    where said.project_id = ${projectId} and said.address_key = soft.address_key
    and said.send_id = soft.send_id and said.bounce_type = 'soft' and said.source like ${said}
  ))
  and (soft.source not like ${mailed} or not exists (
    select from feedback.notices as posted
    where posted.project_id = ${projectId} and posted.address_key = soft.address_key
    and posted.send_id = soft.send_id and posted.bounce_type = 'soft' and posted.source not like ${mailed}
  ))`;

/**
 * When each of some addresses last had bounced softly so often in a row, or twice as often, and so on, if it ever had.
 * In the order in which it happened, whenever feedback arrived. A delivery in between begins a new row, and so does an
 * email that was accepted at its hand-off and did not bounce. One that only feedback proves to be taken begins none:
 * such an event judges no row, so the order of arrival would matter. A bounce that a webhook or a mailbox repeats
 * counts once.
 */
export const listTooManySoft = (
  { tx, projectId }: Scope,
  addressKeys: readonly Buffer[],
  inARowMax: number,
) =>
  tx.any(sql.type(TooMany)`
    select told.address_key, last.occurred_at as since, last.source, last.send_id
    from unnest(${sql.array([...addressKeys], 'bytea')}) as told (address_key)
    cross join lateral (
      select counted.occurred_at, counted.source, counted.send_id
      from (
        select begun.occurred_at, begun.source, begun.send_id, begun.dedupe_key, row_number() over (
            partition by begun.row_id order by begun.occurred_at, begun.source, begun.dedupe_key
          ) as nth
        from (
          select judged.*, count(*) filter (where judged.is_first) over (
              order by judged.occurred_at, judged.source, judged.dedupe_key
            ) as row_id
          from (
            select bounced.*, exists (
                select from feedback.notices as arrived
                where arrived.project_id = ${projectId} and arrived.address_key = told.address_key
                and arrived.kind = 'delivered' and not arrived.is_test
                and arrived.occurred_at <= bounced.occurred_at and arrived.occurred_at > bounced.before_at
              ) or exists (
                select from delivery.sends as taken
                where taken.project_id = ${projectId} and taken.address_key = told.address_key
                and taken.accepted_at <= bounced.occurred_at and taken.accepted_at > bounced.before_at
                and taken.bounced_at is null
                and (taken.taken_at is null or taken.accepted_at < taken.taken_at)
              ) as is_first
            from (
              select soft.occurred_at, soft.source, soft.send_id, soft.dedupe_key,
                lag(soft.occurred_at, 1, '-infinity'::timestamptz) over (
                  order by soft.occurred_at, soft.source, soft.dedupe_key
                ) as before_at
              from (
                select soft.occurred_at, soft.source, soft.send_id, soft.dedupe_key from feedback.notices as soft
                where soft.project_id = ${projectId} and soft.address_key = told.address_key and ${isSoft}
                and ${isFirstReport(projectId)}
                order by soft.occurred_at desc, soft.source desc, soft.dedupe_key desc
                limit ${SOFT_BOUNCES_SEEN_MAX}
              ) as soft
            ) as bounced
          ) as judged
        ) as begun
      ) as counted
      where counted.nth % ${inARowMax} = 0
      order by counted.occurred_at desc, counted.source desc, counted.dedupe_key desc
      limit 1
    ) as last
  `);

const Setting = z.strictObject({ soft_bounces_max: z.int() });

export const SOFT_BOUNCES_MAX_DEFAULT = 5;

/** After how many soft bounces in a row a project gives an address up. */
export const readSoftBouncesMax = async ({ tx, projectId }: Scope): Promise<number> => {
  const setting = await tx.maybeOne(sql.type(Setting)`
    select soft_bounces_max from feedback.settings where project_id = ${projectId}
  `);
  return setting?.soft_bounces_max ?? SOFT_BOUNCES_MAX_DEFAULT;
};

export const writeSoftBouncesMax = ({ tx, projectId }: Scope, softBouncesMax: number) =>
  tx.query(sql.unsafe`
    insert into feedback.settings as setting (project_id, soft_bounces_max)
    values (${projectId}, ${softBouncesMax})
    on conflict on constraint settings_pkey do update set soft_bounces_max = excluded.soft_bounces_max
    where setting.soft_bounces_max <> excluded.soft_bounces_max
  `);
