import { z } from 'zod';
import type { Scope } from '../base/db.ts';
import { readCursor, toCursor, toPage } from '../base/page.ts';
import type { PageQuery } from '../base/page.ts';
import { AccountAnswer, fixOf } from '../providers/providers.ts';
import * as suppression from '../suppression/suppression.ts';
import { Answer, findLookedTo, listSends, SHOWN_STATUSES } from './log_queries.ts';
import type { SendRow } from './log_queries.ts';
import { DELIVERED_SHOWN, WAITING_SHOWN } from './shown.ts';
import { findWait, WAITS } from './waits.ts';

export { SHOWN_STATUSES };

const Timestamp = z.iso.datetime();

const FEEDBACK_KINDS = ['delivered', 'bounced', 'complained', 'opened', 'clicked'] as const;

/** A send as the API shows it. */
export const Send = z
  .strictObject({
    id: z.uuid(),
    automation_id: z.uuid().nullable(),
    run_id: z.uuid().nullable(),
    step_id: z.string().nullable(),
    profile_id: z.uuid(),
    provider_id: z.uuid(),
    to: z.string().nullable().meta({ description: 'The address; null once the person is erased.' }),
    subject: z
      .string()
      .nullable()
      .meta({ description: 'Null before it is rendered, and once it is removed.' }),
    status: z.enum(SHOWN_STATUSES),
    status_reason: z
      .string()
      .nullable()
      .meta({
        description:
          'Why it stands so, where there is more to say. Of one that is `queued` what it waits for: `quiet_hours`, ' +
          '`frequency_cap`, `unconfirmed_budget`, `ramp`, `automation_paused`, or the failure after which it is ' +
          'tried again. Of one that is `unknown` `restored`, where a backup was restored since it was queued. ' +
          'Of one that is `cancelled` `frequency_cap`, `unconfirmed_address`, `recipient_cap`, ' +
          '`automation_archived`, `automation_deleted` or `provider_deleted`, where that blocked its hand-off, or ' +
          '`run_merged` or `sent_by_other_run`, where a merge gave its person another run that sends it.',
      }),
    status_fix: z.string().nullable().meta({
      description:
        'What to do about it, where the provider, or that it was deleted, or an unconfirmed address is the reason.',
    }),
    attempts: z
      .int()
      .nonnegative()
      .meta({ description: 'How often it was handed to the provider.' }),
    queued_at: Timestamp,
    accepted_at: Timestamp.nullable(),
    delivered_at: Timestamp.nullable(),
    provider_message_id: z.string().nullable(),
    answer: Answer.nullable().meta({
      description:
        'What the provider answered to the newest hand-off: the SMTP code or HTTP status, the enhanced code ' +
        '(RFC 3463), the text without secrets and other addresses, and the id in the queue of the relay.',
    }),
    feedback: z
      .array(z.strictObject({ kind: z.enum(FEEDBACK_KINDS), occurred_at: Timestamp }))
      .meta({
        description:
          'What the provider reported: the first open and click, and of a bounce the one that stands.',
      }),
    is_test: z.boolean().meta({
      description:
        'Whether somebody only tried the automation: its subject says so, and it counts for no cap and no timeline.',
    }),
    content_removed_at: Timestamp.nullable().meta({
      description:
        'When retention removed the subject, the content and the answers of the provider; null while they are kept.',
    }),
  })
  .meta({
    id: 'Send',
    description: 'The intent to send one message to one person, and what became of it.',
    examples: [DELIVERED_SHOWN],
  });

/** A send as it stands this moment. */
export const SendNow = z
  .strictObject({
    ...Send.shape,
    waits_for: z
      .strictObject({
        because: z.enum(WAITS).meta({
          description:
            '`retry`: it was not taken and is tried again. `resend`: nobody knows whether it was taken, and it is ' +
            'sent again. `quiet_hours`, `frequency_cap`, `unconfirmed_address`, `recipient_cap`, ' +
            '`unconfirmed_budget`, `ramp`: its limits. ' +
            '`identical_refusals`: the same answer came to several recipients, and none was accepted in between. ' +
            '`provider_silent`: its provider has answered nothing for half a minute. Else what of its provider ' +
            'holds it up.',
        }),
        reason: z.string().nullable().meta({
          description:
            'The class of the failure for which its provider is parked or paused, or after which it is tried again.',
        }),
        answer: AccountAnswer.nullable(),
        until: Timestamp.nullable().meta({ description: 'Null where no moment is known.' }),
        fix: z.string().meta({ description: 'What to do about it.' }),
      })
      .nullable()
      .meta({
        description:
          'What a queued send waits for just now, or an unknown one that is sent again by itself: of its own or of ' +
          'its provider, what lasts longer.',
      }),
  })
  .meta({
    id: 'SendNow',
    description: 'A send, and what it waits for just now.',
    examples: [WAITING_SHOWN],
  });

const toText = (at: Date | null): string | null => at?.toISOString() ?? null;

const feedbackOf = (row: SendRow) => {
  const times: Record<(typeof FEEDBACK_KINDS)[number], Date | null> = {
    delivered: row.delivered_at,
    bounced: row.bounced_at,
    complained: row.complained_at,
    opened: row.opened_at,
    clicked: row.clicked_at,
  };
  return FEEDBACK_KINDS.flatMap((kind) => {
    const at = times[kind];
    return at === null ? [] : [{ kind, occurred_at: at.toISOString() }];
  });
};

/** What nobody knew is no warning any more once feedback or somebody has said it. */
const reasonOf = ({ status_reason, shown_status }: SendRow): string | null =>
  status_reason === 'outcome_unknown' && shown_status !== 'unknown' ? null : status_reason;

const CONFIRM =
  'Only a browser asserted this address. It gets little email, and only with what that browser asserted itself. ' +
  'Identify the person with a server key and with this `email` to confirm the address.';

const RECIPIENT_CAPPED =
  'The recipient has reached the cap for emails of browser-triggered runs in 24 hours. ' +
  'Send the trigger event with a server key, or raise the cap in Settings → Sending limits.';

const CHOOSE =
  'Its provider was deleted, and it is not sent any more. Choose another provider in the steps of its automation, ' +
  'or add one first, as an editor or an owner of the project or with a server key; then activate the version. The ' +
  'mails of whoever comes after that go out.';

const RESENT =
  'It is sent again by itself, unless feedback proves before that it was taken. Look for it in the log of the ' +
  'provider and say what became of it (`resolve`) to spare its recipient a second one, or cancel it.';

/** What to do about a send that ended, by why it did; what nobody knew is known then. */
export const fixOfEnded = (reason: string | null): string | null => {
  if (reason === 'outcome_unknown') return null;
  if (reason === 'provider_deleted') return CHOOSE;
  if (reason === 'recipient_cap') return RECIPIENT_CAPPED;
  return reason === 'unconfirmed_address' ? CONFIRM : fixOf(reason);
};

/** What is unknown is to be looked for, whatever kept it from being handed over again. */
const fixOfSend = (row: SendRow): string | null => {
  if (row.is_resent) return RESENT;
  if (row.shown_status === 'unknown') return fixOf('outcome_unknown');
  const reason = reasonOf(row);
  if (row.shown_status === 'queued' && reason === 'recipient_refused')
    return fixOf('recipient_deferred');
  return fixOfEnded(reason);
};

export const toSend = (row: SendRow) => ({
  id: row.send_id,
  automation_id: row.automation_id,
  run_id: row.run_id,
  step_id: row.step_id,
  profile_id: row.profile_id,
  provider_id: row.provider_id,
  to: row.recipient,
  subject: row.subject,
  status: row.shown_status,
  status_reason: reasonOf(row),
  status_fix: fixOfSend(row),
  attempts: row.attempt_count,
  queued_at: row.queued_at.toISOString(),
  accepted_at: toText(row.accepted_at),
  delivered_at: toText(row.delivered_at),
  provider_message_id: row.provider_message_id,
  answer: row.answer,
  feedback: feedbackOf(row),
  is_test: row.is_test,
  content_removed_at: toText(row.content_removed_at),
});

/** A send with what it waits for, looked up when it is read. */
export const toSendNow = async (scope: Scope, row: SendRow) => {
  const wait = await findWait(scope, row);
  return { ...toSend(row), waits_for: wait && { ...wait, until: toText(wait.until) } };
};

type SendQuery = PageQuery & {
  profile_id?: string | undefined;
  automation_id?: string | undefined;
  email?: string | undefined;
  status?: (typeof SHOWN_STATUSES)[number] | undefined;
  after?: string | undefined;
  lookedMax?: number;
};

/** One page of the send log, newest first. It may hold few, or none, and have a next: see SENDS_LOOKED_MAX. */
export const pageSends = async (scope: Scope, query: SendQuery) => {
  const filter = {
    limit: query.limit + 1,
    beforeId: readCursor(z.tuple([z.uuid()]), query.cursor)?.[0] ?? null,
    profileId: query.profile_id ?? null,
    automationId: query.automation_id ?? null,
    addressKey: query.email === undefined ? null : suppression.addressKey(scope, query.email),
    status: query.status ?? null,
    after: query.after ?? null,
    ...(query.lookedMax === undefined ? {} : { lookedMax: query.lookedMax }),
  };
  const rows = await listSends(scope, filter);
  const page = toPage(rows, query.limit, { item: toSend, position: (row) => [row.send_id] });
  if (page.next_cursor !== null) return page;
  const lookedTo = await findLookedTo(scope, filter);
  return { ...page, next_cursor: lookedTo && toCursor([lookedTo]) };
};
