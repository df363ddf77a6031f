import { z } from 'zod';
import { countBuckets } from '../base/buckets.ts';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { SEND_STATUSES } from './queries.ts';

const Bucket = z.strictObject({
  bucket: z.int(),
  sends: z.int(),
  accepted: z.int(),
  bounced: z.int(),
  complained: z.int(),
  suppressed: z.int(),
  not_accepted: z.int(),
  not_accepted_bounced: z.int(),
});

const OTHERS = SEND_STATUSES.filter((status) => status !== 'accepted');
/**
 * Somebody was to have the mail, and it ended without a provider that took it. Where the provider refused it as a
 * bounce, that is a bounce, too.
 */
const NOT_ACCEPTED = ['rejected', 'not_sent', 'expired', 'failed_render'] as const;

/**
 * What became of the newest sends, at most `sendsMax`, by when they were planned: between one id and the next; the last
 * is open. Where those that are counted end within one, from there on. Indexes know it alone: one is of all sends, one
 * of those that were not accepted, one of each rare fact.
 */
export const countBetween = (
  { tx, projectId }: Scope,
  ids: readonly string[],
  sendsMax: number,
) => {
  const of = sql.fragment`project_id = ${projectId} and send_id >= asked.first_id and send_id < asked.next_id`;
  const notAccepted = sql.fragment`status = any (${sql.array([...NOT_ACCEPTED], 'text')})`;
  const from = sql.fragment`project_id = ${projectId} and send_id >= told.first_id and send_id < told.next_id`;
  return tx.any(sql.type(Bucket)`
    with recursive ${countBuckets(ids, sendsMax, sql.fragment`from delivery.sends where ${of}`)}, told as (
      select asked.bucket, counted.held as sends, asked.next_id, case when counted.room > 0 then asked.first_id else (
        select newest.send_id from (
          select send_id from delivery.sends where ${of} order by send_id desc limit counted.held
        ) as newest
        order by newest.send_id limit 1
      ) end as first_id
      from counted join asked on asked.bucket = counted.bucket
      where counted.held > 0
    )
    select told.bucket, told.sends, told.sends - other.sends as accepted, bounced.sends as bounced,
      complained.sends as complained, other.suppressed, other.not_accepted, refused.sends as not_accepted_bounced
    from told
    cross join lateral (
      select count(*) as sends, count(*) filter (where status = 'suppressed') as suppressed,
        count(*) filter (where ${notAccepted}) as not_accepted
      from delivery.sends
      where ${from} and status <> 'accepted' and status = any (${sql.array(OTHERS, 'text')})
    ) as other
    cross join lateral (
      select count(*) as sends from delivery.sends where ${from} and bounced_at is not null
    ) as bounced
    cross join lateral (
      select count(*) as sends from delivery.sends where ${from} and complained_at is not null
    ) as complained
    cross join lateral (
      select count(*) as sends from (
        select send_id from delivery.sends where ${from} and status <> 'accepted' and ${notAccepted}
        intersect all
        select send_id from delivery.sends where ${from} and bounced_at is not null
      ) as both_ways
    ) as refused
  `);
};

/** How many of the newest cancelled sends are looked at, each in its row. */
export const CANCELLED_LOOKED_MAX = 1_000;

const Gone = z.strictObject({ looked: z.int(), gone: z.int() });

/** How many were cancelled because their provider was deleted, of the newest cancelled ones since an id. */
export const countProviderGone = async (
  { tx, projectId }: Scope,
  firstId: string,
  lookedMax = CANCELLED_LOOKED_MAX,
): Promise<{ count: number; isCapped: boolean }> => {
  const { looked, gone } = await tx.one(sql.type(Gone)`
    select count(*)::int as looked,
      (count(*) filter (where status_reason = 'provider_deleted'))::int as gone
    from (
      select status_reason from delivery.sends
      where project_id = ${projectId} and status = 'cancelled' and status <> 'accepted' and send_id >= ${firstId}
      order by send_id desc
      limit ${lookedMax}
    ) as newest
  `);
  return { count: gone, isCapped: looked >= lookedMax };
};

/** How many unknown sends are counted: whoever has more looks at the log. */
export const UNKNOWN_COUNTED_MAX = 1_000;

const Unknown = z.strictObject({ unknown: z.int() });

/** How many sends are unknown, whenever they were planned; at most so many are counted. */
export const countUnknown = async (
  { tx, projectId }: Scope,
  countedMax = UNKNOWN_COUNTED_MAX,
): Promise<number> => {
  const { unknown } = await tx.one(sql.type(Unknown)`
    select count(*)::int as unknown from (
      select from delivery.sends
      where project_id = ${projectId} and status = 'unknown' and status <> 'accepted'
      limit ${countedMax}
    ) as counted
  `);
  return unknown;
};

/** How many sends that wait for the hourly budget are counted at most. */
export const WAITING_COUNTED_MAX = 10_000;

const Waiting = z.strictObject({ waiting: z.int() });

/** Counts the sends to unconfirmed addresses that wait for the hourly budget. An index holds only those. */
export const countUnconfirmedWaiting = async (
  { tx, projectId }: Scope,
  countedMax = WAITING_COUNTED_MAX,
): Promise<{ count: number; isCapped: boolean }> => {
  const { waiting } = await tx.one(sql.type(Waiting)`
    select count(*)::int as waiting from (
      select from delivery.sends
      where project_id = ${projectId} and status = 'queued' and status_reason = 'unconfirmed_budget'
      limit ${countedMax + 1}
    ) as counted
  `);
  return { count: Math.min(waiting, countedMax), isCapped: waiting > countedMax };
};
