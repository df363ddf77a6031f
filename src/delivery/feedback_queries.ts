import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';

const Found = z.strictObject({
  send_id: z.uuid(),
  /** Null once the person is erased. */
  address_key: z.instanceof(Buffer).nullable(),
});
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

const findById = ({ tx, projectId }: Scope, sendId: string) =>
  tx.maybeOne(sql.type(Found)`
    select send_id, address_key from delivery.sends
    where project_id = ${projectId} and send_id = ${sendId}
  `);

/** Relays give Message-IDs back with or without their brackets. */
const findByMessageId = ({ tx, projectId }: Scope, messageId: string) => {
  const bare = messageId.replace(/^<(.*)>$/s, '$1');
  const spellings = sql.array([bare, `<${bare}>`], 'text');
  return tx.maybeOne(sql.type(Found)`
    select send.send_id, send.address_key
    from delivery.attempts as tried
    join delivery.sends as send on send.project_id = tried.project_id and send.send_id = tried.send_id
    where tried.project_id = ${projectId} and send.project_id = ${projectId}
    and (tried.message_id = any (${spellings}) or tried.provider_message_id = any (${spellings}))
    order by tried.started_at desc
    limit 1
  `);
};

const findByAddress = ({ tx, projectId }: Scope, { addressKey, occurredAt }: Trace) =>
  tx.maybeOne(sql.type(Found)`
    select send_id, address_key from delivery.sends
    where project_id = ${projectId} and address_key = ${sql.binary(addressKey)}
    and status in ('accepted', 'unknown', 'handing_off')
    and handed_off_at between ${sql.timestamp(occurredAt)} - make_interval(days => ${MATCH_BY_ADDRESS_DAYS})
      and ${sql.timestamp(occurredAt)} + interval '1 minute'
    order by handed_off_at desc
    limit 1
  `);

/** The send a notice is about: by our send id, else by a message id, else the newest one to the address. */
export const findSentTo = async (scope: Scope, trace: Trace): Promise<Found | null> => {
  const byId = trace.sendId === null ? null : await findById(scope, trace.sendId);
  const byMessageId =
    byId ?? (trace.messageId === null ? null : await findByMessageId(scope, trace.messageId));
  return byMessageId ?? findByAddress(scope, trace);
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
