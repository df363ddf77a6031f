import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Db, Scope } from '../base/db.ts';
import { newId } from '../base/ids.ts';
import type { EmailService, Reply } from '../providers/providers.ts';

const DecisionRow = z.strictObject({
  begun_id: z.uuid(),
  decision: z.enum(['handing_off', 'queued', 'unknown', 'cancelled', 'suppressed', 'expired']),
});
/** `queued` when its limits let it wait, `lost` when the send is no longer the caller's to hand off. */
export type Decision = z.output<typeof DecisionRow>['decision'] | 'lost';

export type HandOff = {
  sendId: string;
  addressKey: Buffer;
  owner: string;
  attempt: number;
  messageId: string;
  subject: string;
  /** The service behind the provider of this attempt. */
  sentThrough: EmailService;
};

/**
 * Commits what became of some attempts, and that others are about to be given to the provider: or says
 * of each of these why it must not be.
 */
export const stepHandOffs = async (
  db: Pick<Db, 'any'> | Scope['tx'],
  projectId: string,
  outcomes: readonly OutcomeRow[],
  begins: readonly HandOff[],
): Promise<Map<string, Decision>> => {
  const ended = outcomes.map((row) => ({
    send_id: row.sendId,
    attempt: row.attempt,
    outcome: row.outcome,
    reason: row.reason,
    provider_message_id: row.providerMessageId,
    retry_after_seconds: row.retryAfterSeconds,
    reply_code: row.reply?.code ?? null,
    reply_enhanced: row.reply?.enhanced ?? null,
    reply_text: row.reply?.text ?? null,
    queue_id: row.reply?.queueId ?? null,
  }));
  const begun = begins.map((row) => ({
    send_id: row.sendId,
    address_key: row.addressKey.toString('hex'),
    owner: row.owner,
    attempt: row.attempt,
    message_id: row.messageId,
    subject: row.subject,
    sent_through: row.sentThrough,
  }));
  const rows = await db.any(sql.type(DecisionRow)`
    select begun_id, decision
    from delivery.step_hand_offs(
      project_id => ${projectId},
      step_id => ${newId()},
      outcomes => ${JSON.stringify(ended)}::jsonb,
      begins => ${JSON.stringify(begun)}::jsonb
    )
  `);
  const decided = new Map(rows.map(({ begun_id, decision }) => [begun_id, decision]));
  return new Map(begins.map(({ sendId }) => [sendId, decided.get(sendId) ?? 'lost']));
};

const Begun = z.strictObject({ started_at: z.date() });

/** When a hand-off began, by the database's clock: whoever made it may have another. */
export const getBegunAt = async (
  { tx, projectId }: Scope,
  sendId: string,
  attempt: number,
): Promise<Date> => {
  const { started_at } = await tx.one(sql.type(Begun)`
    select started_at from delivery.attempts
    where project_id = ${projectId} and send_id = ${sendId} and attempt = ${attempt}
  `);
  return started_at;
};

export type OutcomeRow = {
  sendId: string;
  attempt: number;
  outcome: 'accepted' | 'rejected' | 'deferred' | 'unknown' | 'not_started';
  reason: string | null;
  providerMessageId: string | null;
  retryAfterSeconds: number | null;
  reply?: Reply | undefined;
  /** For logs alone. */
  traceId?: string | undefined;
};
