import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';

/** Why nothing of an automation is handed over for good. */
export const ENDS = ['automation_archived', 'automation_deleted'] as const;
export type End = (typeof ENDS)[number];
/** Why nothing of an automation is handed over: for as long as it is paused, or for good. */
export type Halt = 'automation_paused' | End;

export const insertHalt = ({ tx, projectId }: Scope, automationId: string, stop: Halt) =>
  tx.query(sql.unsafe`
    insert into delivery.halts (project_id, automation_id, stop)
    values (${projectId}, ${automationId}, ${stop})
    on conflict (project_id, automation_id) do update set stop = excluded.stop
  `);

/** Waits for whoever is putting sends off because of it. */
export const deleteHalt = ({ tx, projectId }: Scope, automationId: string) =>
  tx.query(sql.unsafe`
    delete from delivery.halts where project_id = ${projectId} and automation_id = ${automationId}
  `);

type Queued = { reason: string | null; sendsMax: number };

/**
 * Locks queued sends of an automation without tests, the first due first: one look into the index for each provider and
 * priority, however many the automation has sent.
 */
const queuedOf = (
  { projectId }: Scope,
  automationId: string,
  { reason, sendsMax }: Queued,
) => sql.fragment`array(
  select queued.send_id from providers.providers as provider
  cross join generate_series(0, 5) as lane (priority)
  cross join lateral (
    select send.send_id from delivery.sends as send
    where send.project_id = ${projectId} and send.provider_id = provider.provider_id
    and send.priority = lane.priority and send.automation_id = ${automationId} and send.status = 'queued'
    and not send.is_test and (${reason}::text is null or send.status_reason = ${reason}::text)
    order by send.due_at, send.send_id
    limit ${sendsMax}
    for update
  ) as queued
  where provider.project_id = ${projectId}
  limit ${sendsMax}
)`;

/**
 * Makes sends that wait for their automation due as they were when they were planned, so that nothing newer goes before
 * them; at most `sendsMax`. Returns how many.
 */
export const releasePaused = async (
  scope: Scope,
  automationId: string,
  sendsMax: number,
): Promise<number> => {
  const { tx, projectId } = scope;
  const { rowCount } = await tx.query(sql.unsafe`
    update delivery.sends
    set status_reason = null, due_at = queued_at
    where project_id = ${projectId}
    and send_id = any (${queuedOf(scope, automationId, { reason: 'automation_paused', sendsMax })})
  `);
  return rowCount;
};

/** Returns the ids of queued sends of an automation, at most `sendsMax`. */
export const queuedToCancel = (scope: Scope, automationId: string, sendsMax: number) =>
  queuedOf(scope, automationId, { reason: null, sendsMax });

const Halted = z.strictObject({ send_id: z.uuid(), stop: z.enum(ENDS) });

/** Lists those of some sends whose automation is archived or deleted, and which of both. Tests go on. */
export const listHalted = ({ tx, projectId }: Scope, sendIds: readonly string[]) =>
  tx.any(sql.type(Halted)`
    select send.send_id, halt.stop from delivery.sends as send
    join delivery.halts as halt on halt.project_id = send.project_id and halt.automation_id = send.automation_id
    where send.project_id = ${projectId} and halt.project_id = ${projectId}
    and send.send_id = any (${sql.array([...sendIds], 'uuid')})
    and not send.is_test and halt.stop = any (${sql.array(ENDS, 'text')})
  `);
