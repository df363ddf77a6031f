import { z } from 'zod';
import type { FragmentSqlToken, ListSqlToken } from 'slonik';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { firstIdAt } from '../base/ids.ts';
import { SEND_STATUSES } from './queries.ts';
import { isResent } from './wait_queries.ts';

/** The states of a send, and the facts that feedback adds to an accepted one. */
export const SHOWN_STATUSES = [...SEND_STATUSES, 'delivered', 'bounced', 'complained'] as const;

/** What the provider answered to a hand-off, fit to be shown. */
export const Answer = z.strictObject({
  code: z.int().nullable(),
  enhanced_code: z.string().nullable(),
  text: z.string().nullable(),
  queue_id: z.string().nullable(),
});

const newestAnswer = sql.fragment`(
  select json_build_object(
    'code', reply_code, 'enhanced_code', reply_enhanced, 'text', reply_text, 'queue_id', queue_id
  )
  from delivery.attempts as attempt
  where attempt.project_id = sends.project_id and attempt.send_id = sends.send_id
    and (reply_code is not null or reply_text is not null)
  order by attempt.attempt desc
  limit 1
) as answer`;

const Send = z.strictObject({
  send_id: z.uuid(),
  automation_id: z.uuid().nullable(),
  run_id: z.uuid().nullable(),
  step_id: z.string().nullable(),
  profile_id: z.uuid(),
  provider_id: z.uuid(),
  template_id: z.uuid(),
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
  opened_at: z.date().nullable(),
  clicked_at: z.date().nullable(),
  provider_message_id: z.string().nullable(),
  /** Null is never. */
  due_at: z.date().nullable(),
  /** Whether it is unknown and will be sent again by itself. */
  is_resent: z.boolean(),
  is_test: z.boolean(),
  answer: Answer.nullable(),
  content_removed_at: z.date().nullable(),
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
  /** Instead of SENDS_LOOKED_MAX. */
  lookedMax?: number;
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
const standsSo = (status: string) =>
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
      fact ? sql.fragment`${columns[fact]} is not null` : standsSo(status),
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

type Asked = FragmentSqlToken | ListSqlToken | null;
const all = (conditions: readonly Asked[]) =>
  sql.join(
    conditions.filter((condition) => condition !== null),
    sql.fragment` and `,
  );

/** States that most sends may have: no index is of them, because it would be of nearly all. */
const isCommon = (status: string): boolean => status === 'accepted' || status === 'delivered';

/** How many sends a page looks at, where nobody knows how many of them are wanted. */
export const SENDS_LOOKED_MAX = 20_000;
const lookedMaxOf = ({ lookedMax = SENDS_LOOKED_MAX }: SendFilter): number => lookedMax;

/** What a list is of: sends that an index leads to, and what of them is wanted. */
const askedOf = ({ projectId }: Scope, filter: SendFilter) => {
  const { status, automationId } = filter;
  const isOne = filter.sendId ?? filter.profileId ?? filter.identityId ?? filter.addressKey;
  const hasState = status ? hasStatus(status) : null;
  const ofAutomation = automationId ? sql.fragment`automation_id = ${automationId}` : null;
  const led = [
    sql.fragment`project_id = ${projectId}`,
    filter.beforeId ? sql.fragment`send_id < ${filter.beforeId}` : null,
    filter.sendId ? sql.fragment`send_id = ${filter.sendId}` : null,
    filter.profileId ? sql.fragment`profile_id = ${filter.profileId}` : null,
    filter.identityId ? sql.fragment`identity_id = ${filter.identityId}` : null,
    filter.addressKey ? sql.fragment`address_key = ${sql.binary(filter.addressKey)}` : null,
    filter.after ? isAfter(filter.after) : null,
  ];
  // Of one person or address there are few, and of a rare state an index.
  const isWalked = status && !isOne && (isCommon(status) || automationId);
  if (!isWalked) return { led: all([...led, hasState, ofAutomation]), wanted: null };
  return isCommon(status)
    ? { led: all([...led, ofAutomation]), wanted: hasState }
    : { led: all([...led, hasState]), wanted: ofAutomation };
};

/**
 * Ids are time-ordered, so newest first is by id. Where what is wanted may be rare among what an index leads to, the
 * newest SENDS_LOOKED_MAX of that are looked at: `findLookedTo` says where to go on.
 */
export const listSends = (scope: Scope, filter: SendFilter) => {
  const { led, wanted } = askedOf(scope, filter);
  const from =
    wanted === null
      ? sql.fragment`delivery.sends where ${led}`
      : sql.fragment`(
          select * from delivery.sends where ${led} order by send_id desc limit ${lookedMaxOf(filter)}
        ) as sends where ${wanted}`;
  return scope.tx.any(sql.type(Send)`
    select send_id, automation_id, run_id, step_id, profile_id, provider_id, template_id, recipient,
      subject,
      ${shownStatus} as shown_status, status_reason, attempt_count, queued_at, accepted_at, delivered_at, bounced_at,
      complained_at, opened_at, clicked_at, provider_message_id, case when isfinite(due_at) then due_at end as due_at,
      (status = 'unknown' and ${isResent}) as is_resent, is_test, content_removed_at,
      ${newestAnswer}
    from ${from}
    order by send_id desc
    limit ${filter.limit}
  `);
};

const Looked = z.strictObject({ send_id: z.uuid() });

/** The last send that a list looked at, where there may be more behind it; null where it looked at all. */
export const findLookedTo = async (scope: Scope, filter: SendFilter): Promise<string | null> => {
  const { led, wanted } = askedOf(scope, filter);
  if (wanted === null) return null;
  const lookedMax = lookedMaxOf(filter);
  const looked = await scope.tx.maybeOne(sql.type(Looked)`
    select send_id from delivery.sends where ${led}
    order by send_id desc
    offset ${lookedMax - 1} limit 1
  `);
  return looked?.send_id ?? null;
};
