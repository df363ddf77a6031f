import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Limits } from './limits.ts';
import { stopSends } from './stop.ts';

/** The states of a send; the drawing is in src/README.md. */
export const SEND_STATUSES = [
  'queued',
  'handing_off',
  'accepted',
  'rejected',
  'unknown',
  'not_sent',
  'suppressed',
  'cancelled',
  'expired',
  'failed_render',
] as const;
const Status = z.enum(SEND_STATUSES);

/** Transactional mail is what people cannot do without; only suppressions stop it. */
export const CATEGORIES = ['marketing', 'transactional'] as const;
export type Category = (typeof CATEGORIES)[number];

/** Whether a send whose outcome stays unknown is held, or handed over again: it may then arrive twice. */
export const ON_UNKNOWN = ['hold', 'resend'] as const;
export type OnUnknown = (typeof ON_UNKNOWN)[number];

const Planned = z.strictObject({ planned_id: z.uuid(), planned_status: Status });
export type Planned = z.output<typeof Planned>;

export type NewSend = {
  sendId: string;
  automationId: string;
  runId: string;
  stepId: string;
  /** Whom the run was started for. */
  identityId: string | null;
  profileId: string;
  providerId: string;
  templateId: string;
  templateVersion: number;
  eventId: string;
  eventOccurredAt: Date;
  addressKey: Buffer;
  /** Null where the address is its mailbox and nothing counts it per mailbox. */
  mailboxKey: Buffer | null;
  recipient: string;
  expiresAfterSeconds: number;
  category: Category;
  onUnknown: OnUnknown;
  limits: Limits | null;
  /** Whether somebody only tries the automation. */
  isTest: boolean;
  traceparent: string | null;
  /** Whether a bulk start caused it: it waits behind what events and people cause. */
  isBulk: boolean;
};

/** Plans sends of different steps of runs, in their order, each by `delivery.plan_send`. */
export const planSends = ({ tx, projectId }: Scope, sends: readonly NewSend[]) => {
  const column = (
    read: (send: NewSend) => string | number | boolean | Buffer | null,
    type: string,
  ) => sql.array(sends.map(read), type);
  return tx.any(sql.type(Planned)`
    select planned.planned_id, planned.planned_status
    from unnest(
      ${column(({ sendId }) => sendId, 'uuid')}, ${column(({ automationId }) => automationId, 'uuid')},
      ${column(({ runId }) => runId, 'uuid')}, ${column(({ stepId }) => stepId, 'text')},
      ${column(({ identityId }) => identityId, 'uuid')}, ${column(({ profileId }) => profileId, 'uuid')},
      ${column(({ providerId }) => providerId, 'uuid')}, ${column(({ templateId }) => templateId, 'uuid')},
      ${column(({ templateVersion }) => templateVersion, 'int4')}, ${column(({ eventId }) => eventId, 'uuid')},
      ${column(({ eventOccurredAt }) => eventOccurredAt.toISOString(), 'timestamptz')},
      ${column(({ addressKey }) => addressKey, 'bytea')}, ${column(({ recipient }) => recipient, 'text')},
      ${column(({ expiresAfterSeconds }) => expiresAfterSeconds, 'float8')},
      ${column(({ category }) => category, 'text')}, ${column(({ onUnknown }) => onUnknown, 'text')},
      ${column(({ limits }) => limits && JSON.stringify(limits), 'jsonb')},
      ${column(({ isTest }) => isTest, 'bool')}, ${column(({ traceparent }) => traceparent, 'text')},
      ${column(({ mailboxKey }) => mailboxKey?.toString('hex') ?? null, 'text')},
      ${column(({ isBulk }) => isBulk, 'bool')}
    ) with ordinality as send (send_id, automation_id, run_id, step_id, identity_id, profile_id, provider_id,
      template_id, template_version, event_id, event_occurred_at, address_key, recipient, expires_after, category,
      on_unknown, limits, is_test, traceparent, mailbox_key, is_bulk, place)
    cross join lateral delivery.plan_send(
      project_id => ${projectId},
      send_id => send.send_id,
      automation_id => send.automation_id,
      run_id => send.run_id,
      step_id => send.step_id,
      identity_id => send.identity_id,
      profile_id => send.profile_id,
      provider_id => send.provider_id,
      template_id => send.template_id,
      template_version => send.template_version,
      event_id => send.event_id,
      event_occurred_at => send.event_occurred_at,
      address_key => send.address_key,
      recipient => send.recipient,
      expires_after => make_interval(secs => send.expires_after),
      category => send.category,
      on_unknown => send.on_unknown,
      limits => send.limits,
      is_test => send.is_test,
      traceparent => send.traceparent,
      mailbox_key => decode(send.mailbox_key, 'hex'),
      is_bulk => send.is_bulk
    ) as planned
    order by send.place
  `);
};

/** Puts a leased send back, to be tried again later: nothing was begun. Answers how many: none that is another's. */
export const postponeSend = async (
  { tx, projectId }: Scope,
  sendId: string,
  owner: string,
  { reason, retryAfterSeconds }: Postponement,
): Promise<number> => {
  const { rowCount } = await tx.query(sql.unsafe`
    update delivery.sends
    set lease_owner = null, lease_until = null, status_reason = ${reason},
      due_at = now() + make_interval(secs => ${retryAfterSeconds})
    where project_id = ${projectId} and send_id = ${sendId} and status = 'queued' and lease_owner = ${owner}
  `);
  return rowCount;
};
export type Postponement = { reason: string | null; retryAfterSeconds: number };

export type Content = { sendId: string; subject: string; html: string; text: string };

/** Keeps what will be sent, of sends that are still leased to this owner: nothing that was sent is rewritten. */
export const keepContents = async (
  { tx, projectId }: Scope,
  owner: string,
  contents: Content[],
): Promise<void> => {
  const column = (read: (content: Content) => string, type: string) =>
    sql.array(contents.map(read), type);
  await tx.query(sql.unsafe`
    insert into delivery.contents (project_id, send_id, subject, html, text)
    select ${projectId}, content.send_id, content.subject, content.html, content.text
    from unnest(
      ${column(({ sendId }) => sendId, 'uuid')}, ${column(({ subject }) => subject, 'text')},
      ${column(({ html }) => html, 'text')}, ${column(({ text }) => text, 'text')}
    ) as content (send_id, subject, html, text)
    cross join lateral (
      select from delivery.sends
      where project_id = ${projectId} and send_id = content.send_id and status = 'queued' and lease_owner = ${owner}
      limit 1
    ) as ours
    order by content.send_id
    on conflict (project_id, send_id) do update
    set subject = excluded.subject, html = excluded.html, text = excluded.text
  `);
};

/** Gives back sends that an owner leased and did not begin. Answers how many: none that is another's by now. */
export const releaseLeases = async (
  { tx, projectId }: Scope,
  sendIds: string[],
  owner: string,
): Promise<number> => {
  const { rowCount } = await tx.query(sql.unsafe`
    update delivery.sends
    set lease_owner = null, lease_until = null
    where project_id = ${projectId} and send_id = any (${sql.array(sendIds, 'uuid')}) and status = 'queued'
    and lease_owner = ${owner}
  `);
  return rowCount;
};

/** Gives back what dead owners leased of a provider and did not begin. Answers how many. */
export const releaseDeadLeases = async (
  { tx, projectId }: Scope,
  providerId: string,
  deadOwners: string[],
): Promise<number> => {
  const { rowCount } = await tx.query(sql.unsafe`
    update delivery.sends
    set lease_owner = null, lease_until = null
    where project_id = ${projectId} and send_id = any (array(
      select send_id from delivery.sends
      where project_id = ${projectId} and provider_id = ${providerId} and status = 'queued'
      and lease_owner = any (${sql.array(deadOwners, 'text')})
      order by send_id
      for update skip locked
    ))
  `);
  return rowCount;
};

/** Ends what waited too long, the longest first. */
export const endExpired = (scope: Scope, sendsMax: number) =>
  stopSends(scope, {
    stop: 'expired',
    sendIds: sql.fragment`array(
      select send_id from delivery.sends
      where project_id = ${scope.projectId} and status = 'queued' and expires_at <= statement_timestamp()
      and (lease_until is null or lease_until < statement_timestamp())
      order by expires_at
      limit ${sendsMax}
      for update skip locked
    )`,
  });
