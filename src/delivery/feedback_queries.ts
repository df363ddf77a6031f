import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';

const Found = z.strictObject({ send_id: z.uuid(), address_key: z.instanceof(Buffer) });
export type Found = z.output<typeof Found>;

/** What a notice may say about which send it is for; any of it may be missing. */
export type Trace = {
  sendId: string | null;
  messageId: string | null;
  addressKey: Buffer;
  occurredAt: Date;
};

/** How long after the hand-off a notice without any id is still taken to be about it. */
const MATCH_BY_ADDRESS_DAYS = 7;

/** The send a notice is about: by our send id, by a message id, or the newest one to the address. */
export const findSentTo = async ({ tx, projectId }: Scope, trace: Trace): Promise<Found | null> => {
  if (trace.sendId) {
    return tx.maybeOne(sql.type(Found)`
      select send_id, address_key from delivery.sends
      where project_id = ${projectId} and send_id = ${trace.sendId}
    `);
  }
  if (trace.messageId) {
    const found = await tx.maybeOne(sql.type(Found)`
      select send.send_id, send.address_key
      from delivery.attempts as tried
      join delivery.sends as send on send.project_id = tried.project_id and send.send_id = tried.send_id
      where tried.project_id = ${projectId} and send.project_id = ${projectId}
      and (tried.message_id = ${trace.messageId} or tried.provider_message_id = ${trace.messageId})
      order by tried.started_at desc
      limit 1
    `);
    if (found) return found;
  }
  return tx.maybeOne(sql.type(Found)`
    select send_id, address_key from delivery.sends
    where project_id = ${projectId} and address_key = ${sql.binary(trace.addressKey)}
    and status in ('accepted', 'unknown', 'handing_off')
    and handed_off_at between ${sql.timestamp(trace.occurredAt)} - make_interval(days => ${MATCH_BY_ADDRESS_DAYS})
      and ${sql.timestamp(trace.occurredAt)} + interval '1 minute'
    order by handed_off_at desc
    limit 1
  `);
};

export type Fact = 'delivered' | 'bounced' | 'complained';

export const recordFact = (
  { tx, projectId }: Scope,
  sendId: string,
  fact: Fact,
  occurredAt: Date,
) =>
  tx.query(sql.unsafe`
    select from delivery.record_feedback(
      project_id => ${projectId},
      send_id => ${sendId},
      fact => ${fact},
      occurred_at => ${sql.timestamp(occurredAt)}
    )
  `);
