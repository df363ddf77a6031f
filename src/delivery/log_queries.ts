import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { firstIdAt } from '../base/ids.ts';
import { SEND_STATUSES } from './queries.ts';
import { isResent } from './wait_queries.ts';

/** The states of a send, and the facts that feedback adds to an accepted one. */
export const SHOWN_STATUSES = [...SEND_STATUSES, 'delivered', 'bounced', 'complained'] as const;

const Send = z.strictObject({
  send_id: z.uuid(),
  automation_id: z.uuid().nullable(),
  run_id: z.uuid().nullable(),
  step_id: z.string().nullable(),
  profile_id: z.uuid(),
  provider_id: z.uuid(),
  recipient: z.string().nullable(),
  subject: z.string().nullable(),
  shown_status: z.enum(SHOWN_STATUSES),
  status_reason: z.string().nullable(),
  attempt_count: z.int(),
  queued_at: z.date(),
  accepted_at: z.date().nullable(),
  delivered_at: z.date().nullable(),
  bounced_at: z.date().nullable(),
  complained_at: z.date().nullable(),
  provider_message_id: z.string().nullable(),
  /** Null is never. */
  due_at: z.date().nullable(),
  /** Whether it is unknown and will be sent again by itself. */
  is_resent: z.boolean(),
  is_test: z.boolean(),
});
export type SendRow = z.output<typeof Send>;

export type SendFilter = {
  limit: number;
  beforeId?: string | null;
  sendId?: string | null;
  profileId?: string | null;
  /** Whom their run was started for, of a profile or not. */
  identityId?: string | null;
  automationId?: string | null;
  addressKey?: Buffer | null;
  status?: string | null;
  after?: string | null;
};

/** The strongest fact in a fixed order, so that the order in which facts arrive cannot matter. */
const shownStatus = sql.fragment`case
  when complained_at is not null then 'complained'
  when bounced_at is not null then 'bounced'
  when delivered_at is not null then 'delivered'
  else status
end`;

const FACTS = ['complained', 'bounced', 'delivered'] as const;
const columns = {
  complained: sql.fragment`complained_at`,
  bounced: sql.fragment`bounced_at`,
  delivered: sql.fragment`delivered_at`,
};

/** What the index of rare states is of, said again: a plan for any status does not know that this one is rare. */
const hasState = (status: string) =>
  status === 'accepted'
    ? sql.fragment`status = ${status}`
    : sql.fragment`status = ${status} and status <> 'accepted'`;

/** The same rule as `shownStatus`, said so that indexes can be used: stronger facts are missing, this one is there. */
const hasStatus = (status: string) => {
  const rank = FACTS.findIndex((fact) => fact === status);
  const missing = FACTS.slice(0, rank < 0 ? FACTS.length : rank);
  const fact = FACTS[rank];
  return sql.join(
    [
      fact ? sql.fragment`${columns[fact]} is not null` : hasState(status),
      ...missing.map((stronger) => sql.fragment`${columns[stronger]} is null`),
    ],
    sql.fragment` and `,
  );
};

/** Ids are made by several clocks, and a moment before their row. */
const ID_SLACK_MS = 60_000;

const isAfter = (after: string) => {
  const firstId = firstIdAt(new Date(Math.max(0, Date.parse(after) - ID_SLACK_MS)));
  return sql.fragment`send_id >= ${firstId}::uuid and queued_at > ${after}::timestamptz`;
};

/** Ids are time-ordered, so newest first is by id. */
export const listSends = ({ tx, projectId }: Scope, filter: SendFilter) => {
  const conditions = [
    sql.fragment`project_id = ${projectId}`,
    filter.beforeId ? sql.fragment`send_id < ${filter.beforeId}` : null,
    filter.sendId ? sql.fragment`send_id = ${filter.sendId}` : null,
    filter.profileId ? sql.fragment`profile_id = ${filter.profileId}` : null,
    filter.identityId ? sql.fragment`identity_id = ${filter.identityId}` : null,
    filter.automationId ? sql.fragment`automation_id = ${filter.automationId}` : null,
    filter.addressKey ? sql.fragment`address_key = ${sql.binary(filter.addressKey)}` : null,
    filter.status ? hasStatus(filter.status) : null,
    filter.after ? isAfter(filter.after) : null,
  ].filter((condition) => condition !== null);
  return tx.any(sql.type(Send)`
    select send_id, automation_id, run_id, step_id, profile_id, provider_id, recipient, subject,
      ${shownStatus} as shown_status, status_reason, attempt_count, queued_at, accepted_at, delivered_at, bounced_at,
      complained_at, provider_message_id, case when isfinite(due_at) then due_at end as due_at,
      (status = 'unknown' and ${isResent}) as is_resent, is_test
    from delivery.sends
    where ${sql.join(conditions, sql.fragment` and `)}
    order by send_id desc
    limit ${filter.limit}
  `);
};

const Bucket = z.strictObject({
  bucket: z.int(),
  sends: z.int(),
  accepted: z.int(),
  bounced: z.int(),
  complained: z.int(),
  suppressed: z.int(),
});

/**
 * What became of the newest sends, at most `sendsMax`, by when they were planned: between one id
 * and the next; the last is open.
 */
export const countBetween = ({ tx, projectId }: Scope, ids: readonly string[], sendsMax: number) =>
  tx.any(sql.type(Bucket)`
    select width_bucket(newest.send_id, ${sql.array([...ids], 'uuid')}) as bucket,
      count(*) as sends,
      count(*) filter (where accepted_at is not null) as accepted,
      count(*) filter (where bounced_at is not null) as bounced,
      count(*) filter (where complained_at is not null) as complained,
      count(*) filter (where status = 'suppressed') as suppressed
    from (
      select send_id, status, accepted_at, bounced_at, complained_at from delivery.sends
      where project_id = ${projectId} and send_id >= ${ids[0] ?? null}::uuid
      order by send_id desc
      limit ${sendsMax}
    ) as newest
    group by bucket
  `);
