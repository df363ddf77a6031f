import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';

const Found = z.strictObject({
  send_id: z.uuid(),
  profile_id: z.uuid(),
  automation_id: z.uuid().nullable(),
  is_test: z.boolean(),
  /** Null once the person is erased. */
  address_key: z.instanceof(Buffer).nullable(),
});
/** A send, and whether an id said so or only its address and time. */
export type Found = z.output<typeof Found> & { isById: boolean };

/** What a notice may say about which send it is for; any of it may be missing. */
export type Trace = {
  sendId: string | null;
  /** Every spelling under which the hand-off may have been remembered. */
  messageIds: readonly string[];
  addressKey: Buffer;
  occurredAt: Date;
};

/** How long after the hand-off a notice without any id is still taken to be about it. */
const MATCH_BY_ADDRESS_DAYS = 7;

const findById = ({ tx, projectId }: Scope, sendId: string) =>
  tx.maybeOne(sql.type(Found)`
    select send_id, profile_id, automation_id, is_test, address_key from delivery.sends
    where project_id = ${projectId} and send_id = ${sendId}
  `);

/** Relays give Message-IDs back with or without their brackets. */
const spellingsOf = (messageIds: readonly string[]): string[] =>
  messageIds.flatMap((messageId) => {
    const bare = messageId.replace(/^<(.*)>$/s, '$1');
    return [bare, `<${bare}>`];
  });

/** One look-up for each kind of id: joined by "or", neither would use its index for sure. */
export const findByMessageIds = ({ tx, projectId }: Scope, messageIds: readonly string[]) => {
  const spellings = sql.array(spellingsOf(messageIds), 'text');
  return tx.maybeOne(sql.type(Found)`
    select send.send_id, send.profile_id, send.automation_id, send.is_test, send.address_key
    from (
      select ours.send_id, ours.started_at from delivery.attempts as ours
      where ours.project_id = ${projectId} and ours.message_id = any (${spellings})
      union all
      select theirs.send_id, theirs.started_at from delivery.attempts as theirs
      where theirs.project_id = ${projectId} and theirs.provider_message_id = any (${spellings})
    ) as tried
    join delivery.sends as send on send.project_id = ${projectId} and send.send_id = tried.send_id
    order by tried.started_at desc
    limit 1
  `);
};

const findByAddress = ({ tx, projectId }: Scope, { addressKey, occurredAt }: Trace) =>
  tx.maybeOne(sql.type(Found)`
    select send_id, profile_id, automation_id, is_test, address_key from delivery.sends
    where project_id = ${projectId} and address_key = ${sql.binary(addressKey)}
    and status in ('accepted', 'unknown', 'handing_off')
    and handed_off_at between ${sql.timestamp(occurredAt)} - make_interval(days => ${MATCH_BY_ADDRESS_DAYS})
      and ${sql.timestamp(occurredAt)} + interval '1 minute'
    order by handed_off_at desc
    limit 1
  `);

/** The send a notice is about: by our send id, else by a message id, else the newest one to the address. */
export const findSentTo = async (scope: Scope, trace: Trace): Promise<Found | null> => {
  const byOurs = trace.sendId === null ? null : await findById(scope, trace.sendId);
  const byId =
    byOurs ??
    (trace.messageIds.length === 0 ? null : await findByMessageIds(scope, trace.messageIds));
  if (byId) return { ...byId, isById: true };
  const byAddress = await findByAddress(scope, trace);
  return byAddress && { ...byAddress, isById: false };
};

/** `taken` is any sign of the provider's that it has the message. */
export type Fact = 'delivered' | 'bounced' | 'complained' | 'taken';

const Proved = z.strictObject({ record_feedback: z.boolean().nullable() });

/** Adds a fact to a send. Answers whether it proved that the provider took it, which nobody knew. */
export const addFact = async (
  { tx, projectId }: Scope,
  sendId: string,
  fact: Fact,
  occurredAt: Date,
): Promise<boolean> => {
  const { record_feedback } = await tx.one(sql.type(Proved)`
    select record_feedback from delivery.record_feedback(
      project_id => ${projectId},
      send_id => ${sendId},
      fact => ${fact},
      occurred_at => ${sql.timestamp(occurredAt)}
    )
  `);
  return record_feedback === true;
};

const Taken = z.strictObject({ send_id: z.uuid() });

/** Somebody said of a send that it was not sent, and its provider tells that it was. Answers whether that is so. */
export const proveResolved = async ({ tx, projectId }: Scope, sendId: string): Promise<boolean> => {
  const taken = await tx.maybeOne(sql.type(Taken)`
    update delivery.sends
    set status = 'accepted', status_reason = 'outcome_unknown',
      accepted_at = least(delivered_at, bounced_at, complained_at, taken_at)
    where project_id = ${projectId} and send_id = ${sendId} and status = 'not_sent' and status_reason = 'resolved'
    returning send_id
  `);
  return taken !== null;
};

/** Adds a bounce that was said instead of taking the message, to a send that ended so: it proves nothing else. */
export const noteRefused = ({ tx, projectId }: Scope, sendId: string, occurredAt: Date) =>
  tx.query(sql.unsafe`
    update delivery.sends
    set bounced_at = least(bounced_at, ${sql.timestamp(occurredAt)})
    where project_id = ${projectId} and send_id = ${sendId} and status in ('rejected', 'not_sent')
  `);
