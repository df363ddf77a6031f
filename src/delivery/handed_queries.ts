import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { EmailService } from '../providers/providers.ts';

const Named = z.strictObject({ send_id: z.uuid() });

/** Returns those of some sends that were handed to a service: now or at any earlier attempt, with any outcome. */
export const listHandedTo = (
  { tx, projectId }: Scope,
  sendIds: readonly string[],
  service: EmailService,
) =>
  tx.any(sql.type(Named)`
    select asked.send_id from unnest(${sql.array([...sendIds], 'uuid')}) as asked (send_id)
    where exists (
      select from delivery.attempts as tried
      where tried.project_id = ${projectId} and tried.send_id = asked.send_id and tried.sent_through = ${service}
    )
  `);

const Handed = Named.extend({ recipient: z.string().nullable() });

/** Returns those of some sends that were handed to a provider of the project, with their recipients. */
export const listHandedBy = (
  { tx, projectId }: Scope,
  sendIds: readonly string[],
  providerId: string,
) =>
  tx.any(sql.type(Handed)`
    select send.send_id, send.recipient from delivery.sends as send
    where send.project_id = ${projectId} and send.send_id = any (${sql.array([...sendIds], 'uuid')})
    and send.provider_id = ${providerId}
    and exists (
      select from delivery.attempts as tried
      where tried.project_id = ${projectId} and tried.send_id = send.send_id
    )
  `);

/**
 * Whether a send to one of some addresses is being handed to a service: what the service calls the message is not
 * written yet.
 */
export const isHandingOff = (
  { tx, projectId }: Scope,
  addressKeys: readonly Buffer[],
  service: EmailService,
): Promise<boolean> =>
  tx.exists(sql.unsafe`
    select from delivery.sends as send
    join delivery.attempts as tried on tried.project_id = ${projectId} and tried.send_id = send.send_id
      and tried.attempt = send.attempt_count and tried.sent_through = ${service}
    where send.project_id = ${projectId} and send.address_key = any (${sql.array([...addressKeys], 'bytea')})
    and send.status = 'handing_off'
  `);
