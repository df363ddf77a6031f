import { sql } from '../../base/db.ts';
import type { Scope } from '../../base/db.ts';
import * as suppression from '../../suppression/suppression.ts';
import { suppressionOf, TEMPLATES, WELCOME } from './mails.ts';
import type { SeedMail, SeedNotice } from './mails.ts';
import { Random } from './random.ts';
import { toText, unnest } from './store.ts';

/** Where the seed's notices are from. */
const SOURCE = 'generic';
const SENDER = 'shop.example';

/** What all mails of a seed have in common. */
export type Campaign = { automationId: string; templateId: string; providerId: string };

export const campaignOf = (seed: number, startedAt: number): Campaign => {
  const random = new Random(seed, 0xca);
  const [automationId, templateId, providerId] = [1, 2, 3].map(() => random.idAt(startedAt));
  return {
    automationId: automationId ?? '',
    templateId: templateId ?? '',
    providerId: providerId ?? '',
  };
};

const definitionOf = ({ providerId, templateId }: Campaign, version: number) => ({
  trigger: { kind: 'event', event: 'user_signed_up', filters: [] },
  settings: { re_entry: 'once' },
  entry: 'welcome',
  steps: {
    welcome: {
      kind: 'send_email',
      provider_id: providerId,
      template_id: templateId,
      template_version: version,
      next: null,
    },
  },
});

/** Keeps the automation and the templates that the mails come from; paused, so that it mails nobody. */
export const keepCampaign = async (
  { tx, projectId }: Scope,
  campaign: Campaign,
  startedAt: number,
): Promise<void> => {
  const { automationId, templateId } = campaign;
  await tx.query(sql.unsafe`
    insert into automations.automations (project_id, automation_id, name, status, active_version, created_at,
      updated_at)
    values (${projectId}, ${automationId}, ${WELCOME}, 'paused', ${TEMPLATES.length}, ${toText(startedAt)},
      ${toText(startedAt)})
    on conflict do nothing
  `);
  await tx.query(sql.unsafe`
    insert into rendering.heads (project_id, template_id, name, latest_version, created_at, updated_at)
    values (${projectId}, ${templateId}, ${TEMPLATES.at(-1)?.name ?? ''}, ${TEMPLATES.length}, ${toText(startedAt)},
      ${toText(startedAt)})
    on conflict do nothing
  `);
  for (const [at, { name, subject }] of TEMPLATES.entries()) {
    await tx.query(sql.unsafe`
      insert into automations.versions (project_id, automation_id, version, definition, created_at)
      values (${projectId}, ${automationId}, ${at + 1}, ${JSON.stringify(definitionOf(campaign, at + 1))}::jsonb,
        ${toText(startedAt)})
      on conflict do nothing
    `);
    await tx.query(sql.unsafe`
      insert into rendering.templates (project_id, template_id, version, name, subject, html, text, created_at)
      values (${projectId}, ${templateId}, ${at + 1}, ${name}, ${subject}, ${`<h1>${subject}</h1>`}, null,
        ${toText(startedAt)})
      on conflict do nothing
    `);
  }
};

type Addressed = { mail: SeedMail; addressKey: string };

const insertAddresses = ({ tx, projectId }: Scope, addressed: readonly Addressed[]) =>
  tx.query(sql.unsafe`
    insert into suppression.addresses (project_id, address_key, email, reason, source, suppressed_at)
    select ${projectId}, decode(address_key, 'hex'), email, reason, source, suppressed_at
    from ${unnest(addressed, [
      [({ addressKey }) => addressKey, 'text'],
      [({ mail }) => mail.email, 'text'],
      [({ mail }) => suppressionOf(mail)?.reason ?? null, 'text'],
      [({ mail }) => (suppressionOf(mail) ? `webhook/${SOURCE}` : null), 'text'],
      [({ mail }) => toText(suppressionOf(mail)?.at ?? null), 'timestamptz'],
    ])} as seeded (address_key, email, reason, source, suppressed_at)
  `);

const insertHistory = ({ tx, projectId }: Scope, suppressed: readonly Addressed[]) =>
  tx.query(sql.unsafe`
    insert into suppression.history (project_id, history_id, address_key, change, reason, source, changed_at)
    select ${projectId}, history_id, decode(address_key, 'hex'), 'suppressed', reason, ${`webhook/${SOURCE}`},
      changed_at
    from ${unnest(suppressed, [
      [({ mail }) => mail.historyId, 'uuid'],
      [({ addressKey }) => addressKey, 'text'],
      [({ mail }) => suppressionOf(mail)?.reason ?? null, 'text'],
      [({ mail }) => toText(suppressionOf(mail)?.at ?? null), 'timestamptz'],
    ])} as seeded (history_id, address_key, reason, changed_at)
  `);

const insertRuns = ({ tx, projectId }: Scope, mails: readonly SeedMail[], campaign: Campaign) =>
  tx.query(sql.unsafe`
    insert into automations.runs (project_id, run_id, automation_id, version, identity_id, trigger_event_id,
      trigger_event_at, entry_key, status, started_at, ended_at)
    select ${projectId}, run_id, ${campaign.automationId}, version, identity_id, event_id, event_at,
      'once/' || identity_id, 'ended', ended_at, ended_at
    from ${unnest(mails, [
      [(mail) => mail.runId, 'uuid'],
      [(mail) => String(mail.version), 'int4'],
      [(mail) => mail.identityId, 'uuid'],
      [(mail) => mail.eventId, 'uuid'],
      [(mail) => toText(mail.signedUpAt), 'timestamptz'],
      [(mail) => toText(mail.queuedAt), 'timestamptz'],
    ])} as seeded (run_id, version, identity_id, event_id, event_at, ended_at)
  `);

const factAt = ({ notices }: SeedMail, fact: SeedNotice['kind']): string | null =>
  toText(notices.find(({ kind }) => kind === fact)?.occurredAt ?? null);

const insertSends = (
  { tx, projectId }: Scope,
  addressed: readonly Addressed[],
  campaign: Campaign,
) =>
  tx.query(sql.unsafe`
    insert into delivery.sends (project_id, send_id, automation_id, run_id, step_id, identity_id, profile_id,
      provider_id, template_id, template_version, event_id, event_occurred_at, address_key, recipient, subject, status,
      attempt_count, due_at, queued_at, expires_at, handed_off_at, accepted_at, provider_message_id, delivered_at,
      bounced_at, complained_at)
    select ${projectId}, send_id, ${campaign.automationId}, run_id, 'welcome', identity_id, profile_id,
      ${campaign.providerId}, ${campaign.templateId}, version, event_id, event_at, decode(address_key, 'hex'),
      recipient, subject, 'accepted', 1, queued_at, queued_at, queued_at + interval '1 day', accepted_at, accepted_at,
      '<' || send_id || '.1@' || ${SENDER} || '>', delivered_at, bounced_at, complained_at
    from ${unnest(addressed, [
      [({ mail }) => mail.sendId, 'uuid'],
      [({ mail }) => mail.runId, 'uuid'],
      [({ mail }) => mail.identityId, 'uuid'],
      [({ mail }) => mail.profileId, 'uuid'],
      [({ mail }) => String(mail.version), 'int4'],
      [({ mail }) => mail.eventId, 'uuid'],
      [({ mail }) => toText(mail.signedUpAt), 'timestamptz'],
      [({ addressKey }) => addressKey, 'text'],
      [({ mail }) => mail.email, 'text'],
      [({ mail }) => mail.subject, 'text'],
      [({ mail }) => toText(mail.queuedAt), 'timestamptz'],
      [({ mail }) => toText(mail.acceptedAt), 'timestamptz'],
      [({ mail }) => factAt(mail, 'delivered'), 'timestamptz'],
      [({ mail }) => factAt(mail, 'bounced'), 'timestamptz'],
      [({ mail }) => factAt(mail, 'complained'), 'timestamptz'],
    ])} as seeded (send_id, run_id, identity_id, profile_id, version, event_id, event_at, address_key, recipient,
      subject, queued_at, accepted_at, delivered_at, bounced_at, complained_at)
  `);

const insertAttempts = ({ tx, projectId }: Scope, mails: readonly SeedMail[]) =>
  tx.query(sql.unsafe`
    insert into delivery.attempts (project_id, send_id, attempt, message_id, lease_owner, started_at, ended_at, outcome,
      provider_message_id)
    select ${projectId}, send_id, 1, message_id, 'seed', at, at, 'accepted', message_id
    from ${unnest(mails, [
      [(mail) => mail.sendId, 'uuid'],
      [(mail) => `<${mail.sendId}.1@${SENDER}>`, 'text'],
      [(mail) => toText(mail.acceptedAt), 'timestamptz'],
    ])} as seeded (send_id, message_id, at)
  `);

const insertNotices = ({ tx, projectId }: Scope, addressed: readonly Addressed[]) =>
  tx.query(sql.unsafe`
    insert into feedback.notices (project_id, source, dedupe_key, kind, bounce_type, address_key, send_id, occurred_at,
      received_at, reason)
    select ${projectId}, ${SOURCE}, send_id || '/' || kind, kind, bounce_type, decode(address_key, 'hex'), send_id,
      occurred_at, occurred_at, reason
    from ${unnest(
      addressed.flatMap(({ mail, addressKey }) =>
        mail.notices.map((notice) => ({ ...notice, addressKey, sendId: mail.sendId })),
      ),
      [
        [({ kind }) => kind, 'text'],
        [({ bounceType }) => bounceType, 'text'],
        [({ addressKey }) => addressKey, 'text'],
        [({ sendId }) => sendId, 'uuid'],
        [({ occurredAt }) => toText(occurredAt), 'timestamptz'],
        [({ reason }) => reason, 'text'],
      ],
    )} as seeded (kind, bounce_type, address_key, send_id, occurred_at, reason)
  `);

/** Adds mails as if they had been sent long ago, with what was heard of them and whom they silenced. */
export const insertMails = async (
  scope: Scope,
  mails: readonly SeedMail[],
  campaign: Campaign,
): Promise<void> => {
  const addressed = mails.map((mail) => ({
    mail,
    addressKey: suppression.addressKey(scope, mail.email).toString('hex'),
  }));
  await insertAddresses(scope, addressed);
  await insertHistory(
    scope,
    addressed.filter(({ mail }) => suppressionOf(mail) !== null),
  );
  await insertRuns(scope, mails, campaign);
  await insertSends(scope, addressed, campaign);
  await insertAttempts(scope, mails);
  await insertNotices(scope, addressed);
};
