import { z } from 'zod';
import type { Scope } from '../base/db.ts';
import { readCursor, toPage } from '../base/page.ts';
import type { PageQuery } from '../base/page.ts';
import { consolePathOf, describeKind, SUBJECT_TYPES } from './kinds.ts';
import { ALERT_STATUSES, AlertDetails, listAlerts } from './queries.ts';
import type { AlertRow } from './queries.ts';

const Timestamp = z.iso.datetime();
const ID = '019a9f0c-6c00-7cc3-98c4-dc0c0c07398f';

export const ALERT_SHOWN = {
  id: ID,
  kind: 'provider_parked',
  status: 'open' as const,
  title: 'Email provider parked',
  subject: { type: 'provider' as const, id: ID, name: 'Main relay' },
  summary: 'Nothing is sent through Main relay (hello@example.com): authentication_failed.',
  fix: 'Create the credentials again at the relay and update the record.',
  details: { reason: 'authentication_failed' },
  console_path: `/console/p/${ID}/settings/providers/${ID}`,
  opened_at: '2026-01-31T12:00:00.000Z',
  resolved_at: null,
};

export const Alert = z
  .strictObject({
    id: z.uuid(),
    kind: z.string(),
    status: z.enum(ALERT_STATUSES),
    title: z.string(),
    subject: z.strictObject({
      type: z.enum(SUBJECT_TYPES),
      id: z.string(),
      name: z.string(),
    }),
    summary: z.string().meta({ description: 'What is wrong.' }),
    fix: z.string().meta({ description: 'What to do.' }),
    details: AlertDetails.meta({ description: 'What was measured; its members depend on `kind`.' }),
    console_path: z.string().meta({ description: 'Where the Console shows the subject.' }),
    opened_at: Timestamp,
    resolved_at: Timestamp.nullable(),
  })
  .meta({
    id: 'Alert',
    description: 'A condition that the owner of the project has to act on.',
    examples: [ALERT_SHOWN],
  });

/** Returns an alert as clients get it; as it was when it opened where `status` says so. */
export const toAlert = (
  { projectId }: Pick<Scope, 'projectId'>,
  row: AlertRow,
  status: (typeof ALERT_STATUSES)[number] = row.resolved_at ? 'resolved' : 'open',
) => {
  const { title, subject: type } = describeKind(row.kind);
  return {
    id: row.alert_id,
    kind: row.kind,
    status,
    title,
    subject: { type, id: row.subject, name: row.subject_name },
    summary: row.summary,
    fix: row.fix,
    details: row.details,
    console_path: consolePathOf(projectId, row.kind, row.subject),
    opened_at: row.opened_at.toISOString(),
    resolved_at: status === 'open' ? null : (row.resolved_at?.toISOString() ?? null),
  };
};

/** Which alerts a list holds. */
export const ListedAlerts = z.enum(['open', 'all']).default('open');

/** One page of a project's alerts, the newest first. */
export const pageAlerts = async (
  scope: Scope,
  { status, limit, cursor }: PageQuery & { status: z.output<typeof ListedAlerts> },
) => {
  const beforeId = readCursor(z.tuple([z.uuid()]), cursor)?.[0] ?? null;
  const rows = await listAlerts(scope, { status, limit: limit + 1, beforeId });
  return toPage(rows, limit, {
    item: (row) => toAlert(scope, row),
    position: ({ alert_id }) => [alert_id],
  });
};
