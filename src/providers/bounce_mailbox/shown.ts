import { explanations, isExplained } from '../failures.ts';
import type { MailboxRow } from './queries.ts';
import type { BounceMailbox } from './schema.ts';

const failureOf = ({ failure, failed_at }: MailboxRow): BounceMailbox['failure'] =>
  failure !== null && failed_at !== null && isExplained(failure)
    ? { reason: failure, ...explanations[failure], at: failed_at.toISOString() }
    : null;

/** Returns a bounce mailbox as the API shows it. */
export const toBounceMailbox = (row: MailboxRow): BounceMailbox => ({
  host: row.host,
  port: row.port,
  secure: row.secure,
  username: row.username,
  password: { set: true },
  folder: row.folder,
  bounce_address: row.bounce_address,
  verp: row.verp,
  after_read: row.after_read,
  move_to: row.move_to,
  status: row.status,
  last_read_at: row.read_at?.toISOString() ?? null,
  message_count: row.message_count,
  report_count: row.report_count,
  failure: failureOf(row),
});
