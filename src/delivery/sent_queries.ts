import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';

const Sent = z.strictObject({ automation_id: z.uuid(), sends: z.int(), accepted: z.int() });

/** What became of the newest sends of each automation, at most `sendsMax` of each. */
export const countSentBy = (
  { tx, projectId }: Scope,
  automationIds: readonly string[],
  sendsMax: number,
) =>
  tx.any(sql.type(Sent)`
    select asked.automation_id, newest.sends, newest.accepted
    from unnest(${sql.array([...automationIds], 'uuid')}) as asked (automation_id)
    cross join lateral (
      select count(*) as sends, count(*) filter (where last.accepted_at is not null) as accepted
      from (
        select accepted_at from delivery.sends as send
        where send.project_id = ${projectId} and send.automation_id = asked.automation_id
        order by send.send_id desc
        limit ${sendsMax}
      ) as last
    ) as newest
  `);

const Recipient = z.strictObject({ send_id: z.uuid(), recipient: z.string().nullable() });

/** Returns the recipients of some sends; null for the sends of an erased person. */
export const listRecipients = ({ tx, projectId }: Scope, sendIds: readonly string[]) =>
  tx.any(sql.type(Recipient)`
    select send_id, recipient from delivery.sends
    where project_id = ${projectId} and send_id = any (${sql.array([...sendIds], 'uuid')})
  `);
