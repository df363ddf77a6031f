import { z } from 'zod';
import type { Scope } from '../base/db.ts';
import { readCursor, toPage } from '../base/page.ts';
import type { PageQuery } from '../base/page.ts';
import { fixOf } from '../providers/providers.ts';
import * as suppression from '../suppression/suppression.ts';
import { listSends, SHOWN_STATUSES } from './log_queries.ts';
import type { SendRow } from './log_queries.ts';

export { SHOWN_STATUSES };

const Timestamp = z.iso.datetime();

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
    subject: z.string().nullable(),
    status: z.enum(SHOWN_STATUSES),
    status_reason: z
      .string()
      .nullable()
      .meta({ description: 'Why it stands so, where there is more to say.' }),
    status_fix: z
      .string()
      .nullable()
      .meta({ description: 'What to do about it, where the provider is the reason.' }),
    attempts: z
      .int()
      .nonnegative()
      .meta({ description: 'How often it was handed to the provider.' }),
    queued_at: Timestamp,
    accepted_at: Timestamp.nullable(),
    delivered_at: Timestamp.nullable(),
    provider_message_id: z.string().nullable(),
    feedback: z.array(z.strictObject({ kind: z.string(), occurred_at: Timestamp })),
  })
  .meta({
    id: 'Send',
    description: 'The intent to send one message to one person, and what became of it.',
    examples: [
      {
        id: '019a9f0c-6c00-7cc3-98c4-dc0c0c07398f',
        automation_id: '019a9f0c-6c01-7f1e-a9a0-5c1d6a1a2b01',
        run_id: '019a9f0c-6c02-7d4b-8c55-0b6f5a1a2b02',
        step_id: 'welcome',
        profile_id: '019a9f0c-6c03-7a3c-9d17-3e2f4a1a2b03',
        provider_id: '019a9f0c-6c04-7b2d-8e28-7d1e3a1a2b04',
        to: 'ann@example.com',
        subject: 'Welcome, Ann',
        status: 'delivered',
        status_reason: null,
        status_fix: null,
        attempts: 1,
        queued_at: '2026-01-31T12:00:00.300Z',
        accepted_at: '2026-01-31T12:00:00.900Z',
        delivered_at: '2026-01-31T12:00:04.000Z',
        provider_message_id: '<019a9f0c-6c00-7cc3-98c4-dc0c0c07398f.1@example.com>',
        feedback: [{ kind: 'delivered', occurred_at: '2026-01-31T12:00:04.000Z' }],
      },
    ],
  });

const toText = (at: Date | null): string | null => at?.toISOString() ?? null;

const feedbackOf = ({ delivered_at, bounced_at, complained_at }: SendRow) =>
  Object.entries({
    delivered: delivered_at,
    bounced: bounced_at,
    complained: complained_at,
  }).flatMap(([kind, at]) => (at === null ? [] : [{ kind, occurred_at: at.toISOString() }]));

/** What nobody knew is no warning any more once feedback or somebody has said it. */
const reasonOf = ({ status_reason, shown_status }: SendRow): string | null =>
  status_reason === 'outcome_unknown' && shown_status !== 'unknown' ? null : status_reason;

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
  status_fix: fixOf(reasonOf(row)),
  attempts: row.attempt_count,
  queued_at: row.queued_at.toISOString(),
  accepted_at: toText(row.accepted_at),
  delivered_at: toText(row.delivered_at),
  provider_message_id: row.provider_message_id,
  feedback: feedbackOf(row),
});

type SendQuery = PageQuery & {
  profile_id?: string | undefined;
  automation_id?: string | undefined;
  email?: string | undefined;
  status?: (typeof SHOWN_STATUSES)[number] | undefined;
  after?: string | undefined;
};

/** One page of the send log, newest first. */
export const pageSends = async (scope: Scope, query: SendQuery) => {
  const rows = await listSends(scope, {
    limit: query.limit + 1,
    beforeId: readCursor(z.tuple([z.uuid()]), query.cursor)?.[0] ?? null,
    sendId: null,
    profileId: query.profile_id ?? null,
    automationId: query.automation_id ?? null,
    addressKey: query.email === undefined ? null : suppression.addressKey(scope, query.email),
    status: query.status ?? null,
    after: query.after ?? null,
  });
  return toPage(rows, query.limit, { item: toSend, position: (row) => [row.send_id] });
};
