import { z } from 'zod';
import { inProject, sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { giveHints } from '../base/hints.ts';
import { nowInMs } from '../base/now_in_ms.ts';
import { Refusal } from '../base/refusal.ts';
import { getSend } from './resolve.ts';
import type { SendRow } from './log_queries.ts';
import { EXPIRES_AFTER_HOURS_DEFAULT } from './retry.ts';
import { sendHint } from './send_hint.ts';

/** One request queues this many rejected sends again at most; the answer says whether more are left. */
export const REQUEUE_SENDS_MAX = 1_000;
/** Up to how many rejected sends are counted before a person confirms that all are queued again. */
const REQUEUE_COUNTED_MAX = 10_000;
/** A rejected send can be queued again for this many days after it was planned. */
export const REQUEUE_DAYS_MAX = 30;

/** Which rejected sends: all for one reason, of every provider or of one. */
export type Rejected = { reason: string; provider_id?: string | undefined };

const Requeued = z.strictObject({ send_id: z.uuid(), provider_id: z.uuid() });

/**
 * Whether a send was rejected, and may be tried again: its person is not erased, and the refusal was no bounce. A
 * suppression still stops it when it is handed over.
 */
const mayBeQueued = sql.fragment`status = 'rejected' and bounced_at is null and recipient is not null
  and address_key is not null and queued_at > statement_timestamp() - make_interval(days => ${REQUEUE_DAYS_MAX})`;

const queue = ({ tx, projectId }: Scope, sendIds: readonly string[]) =>
  tx.any(sql.type(Requeued)`
    update delivery.sends
    set status = 'queued', status_reason = null, content_removed_at = null, due_at = ${nowInMs},
      expires_at = greatest(expires_at,
        statement_timestamp() + make_interval(hours => ${EXPIRES_AFTER_HOURS_DEFAULT}))
    where project_id = ${projectId} and send_id = any (array(
      select send_id from delivery.sends
      where project_id = ${projectId} and send_id = any (${sql.array([...sendIds], 'uuid')}) and ${mayBeQueued}
      order by send_id
      for no key update
    ))
    returning send_id, provider_id
  `);

const Listed = z.strictObject({ send_id: z.uuid() });

const areWanted = ({ projectId }: Scope, { reason, provider_id }: Rejected) =>
  sql.fragment`project_id = ${projectId} and status_reason = ${reason} and ${mayBeQueued}
    and (${provider_id ?? null}::uuid is null or provider_id = ${provider_id ?? null}::uuid)`;

const listRejected = (scope: Scope, rejected: Rejected, sendsMax: number) =>
  scope.tx.any(sql.type(Listed)`
    select send_id from delivery.sends
    where ${areWanted(scope, rejected)}
    order by send_id
    limit ${sendsMax + 1}
  `);

const Count = z.strictObject({ count: z.int() });

/** Counts the rejected sends that `requeueAll` would queue in all, up to a number. */
export const countRejected = async (
  scope: Scope,
  rejected: Rejected,
  countMax = REQUEUE_COUNTED_MAX,
): Promise<{ count: number; is_capped: boolean }> => {
  const { count } = await scope.tx.one(sql.type(Count)`
    select count(*)::integer as count from (
      select from delivery.sends where ${areWanted(scope, rejected)} limit ${countMax + 1}
    ) as wanted
  `);
  return { count: Math.min(count, countMax), is_capped: count > countMax };
};

const wake = (deps: Deps, projectId: string, sends: readonly { provider_id: string }[]) => {
  const providerIds = new Set(sends.map(({ provider_id }) => provider_id));
  return giveHints(
    deps,
    [...providerIds].map((id) => sendHint(projectId, id)),
  );
};

const whyNot = ({ shown_status: status, recipient }: SendRow): string => {
  if (recipient === null) return 'The person is erased: there is no address to send to.';
  if (status === 'bounced')
    return 'It bounced: the mailbox does not exist or is full. Send to another address.';
  return status === 'rejected'
    ? `The send is older than ${REQUEUE_DAYS_MAX} days.`
    : `The send is ${status}. Only a rejected send can be queued again.`;
};

/** Queues a rejected send again. Returns it; one that is queued already stays so. */
export const requeue = async (deps: Deps, projectId: string, sendId: string): Promise<SendRow> => {
  const send = await inProject(deps, projectId, async (scope) => {
    const queued = await queue(scope, [sendId]);
    const found = await getSend(scope, sendId);
    if (queued.length === 0 && found.shown_status !== 'queued')
      throw new Refusal('send_not_rejected', { detail: whyNot(found) });
    return found;
  });
  await wake(deps, projectId, [send]);
  return send;
};

/** Queues rejected sends of one reason again, the oldest first. Repeat it while more are left. */
export const requeueAll = async (
  deps: Deps,
  projectId: string,
  rejected: Rejected,
  sendsMax = REQUEUE_SENDS_MAX,
): Promise<{ queued: number; has_more: boolean }> => {
  const { queued, hasMore } = await inProject(deps, projectId, async (scope) => {
    const listed = await listRejected(scope, rejected, sendsMax);
    const ids = listed.slice(0, sendsMax).map(({ send_id }) => send_id);
    return { queued: await queue(scope, ids), hasMore: listed.length > sendsMax };
  });
  await wake(deps, projectId, queued);
  return { queued: queued.length, has_more: hasMore };
};
