import { isAutomatic } from './automatic.ts';
import { readComplaint } from './complaint.ts';
import { readDeliveryStatus } from './delivery_status.ts';
import { readFeedbackReport } from './feedback_report.ts';
import { readParts } from './parts.ts';
import { readPlainBounce } from './plain_bounce.ts';
import type { ReadEmail } from './report.ts';

export type { ReadEmail, Report, ReportedRecipient } from './report.ts';

/**
 * Reads an email of a bounce mailbox: a delivery status notification (RFC 3464), a feedback report (RFC 5965) or a
 * complaint outside of it, a bounce in words for people, or an automatic reply (RFC 3834). Pure; never throws, whatever
 * the bytes are. Says nothing about whose email it was: the ids in it are only claims.
 */
export const readBounceEmail = async (raw: Buffer): Promise<ReadEmail> => {
  const email = await readParts(raw);
  if (email === null) return { kind: 'other' };
  const feedback = readFeedbackReport(email);
  if (feedback === 'ignored') return { kind: 'automatic' };
  const report =
    feedback ?? readDeliveryStatus(email) ?? readComplaint(email) ?? readPlainBounce(email);
  if (report) return { kind: 'report', report };
  return { kind: isAutomatic(email) ? 'automatic' : 'other' };
};
