import { createHash } from 'node:crypto';
import type pg from 'pg';
import { inProject } from '../../src/base/db.ts';
import type { Scope } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { recordFacts } from '../../src/delivery/delivery.ts';
import type { Fact } from '../../src/delivery/fact_queries.ts';
import { stepHandOffs } from '../../src/delivery/hand_off_queries.ts';
import type { OutcomeRow } from '../../src/delivery/hand_off_queries.ts';
import { claimSends } from '../../src/delivery/claim_queries.ts';
import { planSends } from '../../src/delivery/queries.ts';
import type { NewSend } from '../../src/delivery/queries.ts';
import { resendUnknown } from '../../src/delivery/wait_queries.ts';
import type { EmailService } from '../../src/providers/providers.ts';
import { insertProfiles } from '../../src/profiles/queries.ts';
import { connectTo } from '../base/connections.ts';
import type { TestDatabase } from '../support/database.ts';

export const OWNER = 'worker-1';

export const addressKeyOf = (email: string): Buffer => createHash('sha256').update(email).digest();

/** An intent of a person of its own, on a provider of its own. */
export const newSend = (given: Partial<NewSend> = {}): NewSend => {
  const recipient = given.recipient ?? `${newId()}@example.com`;
  return {
    sendId: newId(),
    automationId: newId(),
    runId: newId(),
    stepId: 'welcome',
    identityId: null,
    profileId: newId(),
    providerId: newId(),
    templateId: newId(),
    templateVersion: 1,
    eventId: newId(),
    eventOccurredAt: new Date('2026-01-31T12:00:00.000Z'),
    addressKey: addressKeyOf(recipient),
    mailboxKey: null,
    recipient,
    expiresAfterSeconds: 72 * 3_600,
    category: 'marketing',
    onUnknown: 'hold',
    limits: null,
    isTest: false,
    traceparent: null,
    isBulk: false,
    ...given,
  };
};

export type SendRow = {
  status: string;
  status_reason: string | null;
  attempt_count: number;
  due_at: Date;
  expires_at: Date;
  lease_owner: string | null;
  handed_off_at: Date | null;
  accepted_at: Date | null;
  delivered_at: Date | null;
  bounced_at: Date | null;
  complained_at: Date | null;
  taken_at: Date | null;
  provider_message_id: string | null;
  subject: string | null;
};

/** The steps of a send of one project, as a worker takes them. */
export const sendsOf = (database: TestDatabase, projectId: string) => {
  const within = <T>(work: (scope: Scope) => Promise<T>): Promise<T> =>
    inProject(database.deps, projectId, work);
  const update = (sendId: string, set: string) =>
    database.owner.query(`update delivery.sends set ${set} where send_id = $1`, [sendId]);

  const plan = (send: NewSend) =>
    within(async (scope) => {
      await insertProfiles(scope, [send.profileId], null);
      const [planned] = await planSends(scope, [send]);
      if (!planned) throw new Error('no send was planned');
      return planned;
    });
  const claim = (providerId: string, claimed: Partial<Parameters<typeof claimSends>[1]> = {}) =>
    within((scope) =>
      claimSends(scope, {
        providerId,
        owner: OWNER,
        sendsMax: 100,
        marketingMax: 100,
        pagesMax: 100,
        leaseSeconds: 60,
        ...claimed,
      }),
    );
  const begin = async (
    { sendId, addressKey }: NewSend,
    owner = OWNER,
    attempt = 1,
    sentThrough: EmailService = 'other',
  ) => {
    const messageId = `<${sendId}.${attempt}@example.com>`;
    const begun = {
      sendId,
      addressKey,
      owner,
      attempt,
      messageId,
      subject: 'Welcome',
      sentThrough,
    };
    const decisions = await stepHandOffs(database.deps.db, projectId, [], [begun]);
    return decisions.get(sendId) ?? 'lost';
  };
  const end = (sendId: string, outcome: OutcomeRow['outcome'], given: Partial<OutcomeRow> = {}) => {
    const defaults = { attempt: 1, reason: null, providerMessageId: null, retryAfterSeconds: null };
    const ended = { ...defaults, sendId, outcome, ...given };
    return stepHandOffs(database.deps.db, projectId, [ended], []);
  };
  const tell = (sendId: string, fact: Fact, at: Date) =>
    within((scope) => recordFacts(scope, [{ sendId, fact, occurredAt: at }]));
  const read = async (sendId: string): Promise<SendRow> => {
    const { rows } = await database.owner.query<SendRow>(
      'select * from delivery.sends where send_id = $1',
      [sendId],
    );
    if (!rows[0]) throw new Error('no such send');
    return rows[0];
  };
  /** A send that was planned, leased and committed as about to be handed over. */
  const handingOff = async (
    given: Partial<NewSend> = {},
    sentThrough: EmailService = 'other',
  ): Promise<NewSend> => {
    const send = newSend(given);
    await plan(send);
    await claim(send.providerId);
    await begin(send, OWNER, 1, sentThrough);
    return send;
  };
  return { within, update, plan, claim, begin, end, tell, read, handingOff };
};

/** Begins a hand-off over a connection of its own, in whatever transaction that has. */
export const beginOver = async (
  client: Pick<pg.Client, 'query'>,
  projectId: string,
  { sendId, addressKey }: Pick<NewSend, 'sendId' | 'addressKey'>,
): Promise<string | undefined> => {
  const address_key = addressKey.toString('hex');
  const message_id = `<${sendId}.1@example.com>`;
  const begun = {
    send_id: sendId,
    address_key,
    owner: OWNER,
    attempt: 1,
    message_id,
    subject: '',
  };
  const { rows } = await client.query<{ decision: string }>(
    "select decision from delivery.step_hand_offs($1, $2, '[]', $3::jsonb)",
    [projectId, newId(), JSON.stringify([begun])],
  );
  return rows[0]?.decision;
};

/** A suppression of the send's address that is not committed yet, on a connection of its own. */
export const suppressUncommitted = async (
  database: TestDatabase,
  projectId: string,
  addressKey: Buffer,
): Promise<pg.Client> => {
  const suppressing = await connectTo(database, projectId);
  await suppressing.query('begin');
  await suppressing.query(
    `select suppression.suppress_address(project_id => $1, address_key => $2, email => 'a@example.com',
      history_id => $3, reason => 'complaint', source => 'test', at => now())`,
    [projectId, addressKey, newId()],
  );
  return suppressing;
};

/** A send whose first hand-off may have been taken, queued to be handed over again. */
export const unresolved = async (
  database: TestDatabase,
  given: Partial<NewSend> = {},
  projectId = newId(),
) => {
  const sends = sendsOf(database, projectId);
  const send = await sends.handingOff({ onUnknown: 'resend', ...given });
  // Due by any clock, also by one that was set back between the two.
  await sends.end(send.sendId, 'unknown', { reason: 'outcome_unknown', retryAfterSeconds: -3_600 });
  await sends.within((scope) => resendUnknown(scope, send.providerId));
  return { projectId, sends, send };
};
