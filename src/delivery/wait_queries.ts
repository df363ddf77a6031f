import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { nowInMs } from '../base/now_in_ms.ts';
import type { Allowance } from '../providers/providers.ts';
import { EndedSend } from './ended_queries.ts';
import { UNKNOWN_ATTEMPTS_MAX } from './retry.ts';
import { stopSends } from './stop.ts';

/** Of an unknown send: whether it was planned to be handed over again. */
const isToBeResent = sql.fragment`
  on_unknown = 'resend' and attempt_count < ${UNKNOWN_ATTEMPTS_MAX} and recipient is not null and isfinite(due_at)
`;

/** The same, and whether it will be in time, if nothing is heard of it before. */
export const isResent = sql.fragment`(
  ${isToBeResent} and expires_at > greatest(due_at, statement_timestamp())
)`;

/** How many unknown sends one claim looks at. */
const UNKNOWN_LOOKED_AT_MAX = 1_000;

/**
 * Looks at what is unknown and has waited for feedback. Queues again what was planned to be sent again; the
 * rest is held: due never, so that nobody looks again.
 */
export const resendUnknown = ({ tx, projectId }: Scope, providerId: string) =>
  tx.query(sql.unsafe`
    update delivery.sends
    set status = case when ${isToBeResent} then 'queued' else status end,
      due_at = case when ${isToBeResent} then due_at else 'infinity' end
    where project_id = ${projectId} and send_id = any (array(
      select send_id from delivery.sends
      where project_id = ${projectId} and provider_id = ${providerId}
      and status = 'unknown' and due_at <= statement_timestamp() and expires_at > statement_timestamp()
      order by due_at
      limit ${UNKNOWN_LOOKED_AT_MAX}
      for update skip locked
    ))
  `);

/** How many sends of one priority a claim moves to the next day at most. */
export const RAMP_POSTPONED_MAX = 1_000;

/** The priorities that `delivery.plan_send` writes: of marketing from 2 on, of email that pages caused the odd ones. */
const PRIORITIES = [0, 1, 2, 3, 4, 5];

const Due = z.strictObject({ send_ids: z.array(z.uuid()) });

/**
 * Makes due email that exceeds a day's ramp wait for the next day, `until`, with that as its reason: all, or marketing,
 * or what pages caused. Returns how many sends.
 */
export const waitForRamp = async (
  { tx, projectId }: Scope,
  providerId: string,
  { until, all, marketing, pages }: NonNullable<Allowance['ramped']>,
): Promise<number> => {
  const waiting = PRIORITIES.filter(
    (priority) => all || (marketing && priority >= 2) || (pages && priority % 2 === 1),
  );
  const priorities = sql.array(waiting, 'int4');
  const due = await tx.any(sql.type(Due)`
    select delivery.take_due(${projectId}, ${providerId}, priority, '{}', ${RAMP_POSTPONED_MAX},
      statement_timestamp()) as send_ids
    from unnest(${priorities}) as waiting (priority)
  `);
  const sendIds = due.flatMap(({ send_ids }) => send_ids);
  if (sendIds.length === 0) return 0;
  const { rowCount } = await tx.query(sql.unsafe`
    update delivery.sends
    set status_reason = 'ramp', due_at = ${sql.timestamp(until)}
    where project_id = ${projectId} and send_id = any (${sql.array(sendIds, 'uuid')})
  `);
  return rowCount;
};

const Ramped = z.strictObject({
  priority: z.int(),
  automation_id: z.uuid(),
  due_at: z.date(),
  send_id: z.uuid(),
});
export type Ramped = z.output<typeof Ramped>;

/** Lists sends that wait for another day of a ramp: transactional first, then by automation, each oldest first. */
export const listRamped = (
  { tx, projectId }: Scope,
  providerId: string,
  { after, sendsMax }: { after: Ramped | null; sendsMax: number },
) => {
  const isNext = after
    ? sql.fragment`(priority, automation_id, due_at, send_id) > (${after.priority}::int2,
        ${after.automation_id}::uuid, ${sql.timestamp(after.due_at)}, ${after.send_id}::uuid)`
    : sql.fragment`true`;
  return tx.any(sql.type(Ramped)`
    select priority, automation_id, due_at, send_id from delivery.sends
    where project_id = ${projectId} and provider_id = ${providerId} and status = 'queued'
    and status_reason = 'ramp' and due_at > statement_timestamp() and ${isNext}
    order by priority, automation_id, due_at, send_id
    limit ${sendsMax}
  `);
};

/**
 * Makes those of them that still wait due as they were when they were planned, so that nothing newer goes before
 * them. Locks them in the order of all locks; who must not wait leaves out those that somebody else holds.
 */
export const releaseRampedSends = async (
  { tx, projectId }: Scope,
  ramped: readonly Ramped[],
  { mayWait }: { mayWait: boolean },
): Promise<number> => {
  const sendIds = sql.array(
    ramped.map(({ send_id }) => send_id),
    'uuid',
  );
  const { rowCount } = await tx.query(sql.unsafe`
    update delivery.sends
    set status_reason = null, due_at = queued_at
    where project_id = ${projectId} and send_id = any (array(
      select send_id from delivery.sends
      where project_id = ${projectId} and send_id = any (${sendIds})
      and status = 'queued' and status_reason = 'ramp'
      order by send_id
      for update ${mayWait ? sql.fragment`` : sql.fragment`skip locked`}
    ))
  `);
  return rowCount;
};

/** Says of an unknown send what somebody has found out. Null when it is not unknown. */
export const resolveUnknown = (
  { tx, projectId }: Scope,
  sendId: string,
  outcome: 'accepted' | 'not_sent',
) =>
  tx.maybeOne(sql.type(EndedSend)`
    update delivery.sends
    set status = ${outcome}, status_reason = 'resolved',
      accepted_at = case when ${outcome} = 'accepted' then handed_off_at end
    where project_id = ${projectId} and send_id = ${sendId} and status = 'unknown'
    returning send_id
  `);

const Again = z.strictObject({ provider_id: z.uuid() });

/**
 * Queues an unknown send again, which somebody has found not to be sent: once for the attempt after which they say
 * so. It gets the age of a new one, and is held should it be unknown again. Null when it does not stand so.
 */
export const queueAgain = async (
  { tx, projectId }: Scope,
  sendId: string,
  { afterAttempt, expiresAfterHours }: { afterAttempt: number; expiresAfterHours: number },
) => {
  const again = await tx.maybeOne(sql.type(Again)`
    update delivery.sends
    set status = 'queued', status_reason = null, on_unknown = 'hold',
      due_at = ${nowInMs},
      expires_at = greatest(expires_at, statement_timestamp() + make_interval(hours => ${expiresAfterHours}))
    where project_id = ${projectId} and send_id = ${sendId} and status = 'unknown'
    and attempt_count = ${afterAttempt} and recipient is not null and address_key is not null
    returning provider_id
  `);
  if (again)
    await tx.query(sql.unsafe`
      update delivery.attempts set reason = 'resolved'
      where project_id = ${projectId} and send_id = ${sendId} and outcome = 'unknown'
    `);
  return again;
};

/** Whether somebody has said of an attempt that it was not sent, and had it sent again. */
export const wasSentAgain = ({ tx, projectId }: Scope, sendId: string, attempt: number) =>
  tx.exists(sql.unsafe`
    select from delivery.attempts
    where project_id = ${projectId} and send_id = ${sendId} and attempt = ${attempt} and reason = 'resolved'
  `);

/** Holds an unknown send that would be sent again, as one that was cancelled once it was queued. Null: it would not. */
const cancelResent = ({ tx, projectId }: Scope, sendId: string) =>
  tx.maybeOne(sql.type(EndedSend)`
    update delivery.sends
    set status_reason = 'cancelled', due_at = 'infinity'
    where project_id = ${projectId} and send_id = ${sendId} and status = 'unknown' and ${isResent}
    returning send_id
  `);

/** Ends a send that waits, or holds one that would be sent again. Null when it does neither. */
export const cancelWaiting = async (scope: Scope, sendId: string) => {
  const held = await cancelResent(scope, sendId);
  if (held) return held;
  const sendIds = sql.array([sendId], 'uuid');
  return (await stopSends(scope, { stop: 'cancelled', sendIds }))[0] ?? null;
};
