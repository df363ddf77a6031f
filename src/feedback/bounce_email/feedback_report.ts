import { readTypedAddress } from './addresses.ts';
import { fieldOf, readBlocks } from './fields.ts';
import { RECIPIENTS_MAX } from './limits.ts';
import { headerOf } from './parts.ts';
import type { Parts } from './parts.ts';
import type { Report, Reported } from './report.ts';
import { readReturned } from './returned.ts';

/**
 * The types of feedback (RFC 5965 §7.3, RFC 6591, RFC 6430) that count. A failure to authenticate is none: it reports
 * on the sender's domain.
 */
const TYPES = new Map<string, Reported>([
  ['abuse', 'complained'],
  ['fraud', 'complained'],
  ['virus', 'complained'],
  ['other', 'complained'],
  ['not-spam', 'not_spam'],
  ['opt-out', 'unsubscribed'],
  ['opt-out-list', 'unsubscribed'],
]);

/** Reads a feedback report (ARF, RFC 5965); null for an email without one, and `ignored` for a type that is none. */
export const readFeedbackReport = (email: Parts): Report | 'ignored' | null => {
  const part = email.parts.find(({ type }) => type === 'message/feedback-report');
  if (!part) return null;
  const [fields] = readBlocks(part.content, 1);
  const kind = TYPES.get((fields && fieldOf(fields, 'feedback-type'))?.toLowerCase() ?? '');
  if (!fields || kind === undefined) return 'ignored';
  const named = ['original-rcpt-to', 'removal-recipient'].flatMap((name) => fields.get(name) ?? []);
  const addresses = named.slice(0, RECIPIENTS_MAX).flatMap((one) => readTypedAddress(one) ?? []);
  return {
    recipients: [{ kind, addresses, isForwarded: false, diagnostic: null }],
    ...readReturned(email, '', [fieldOf(fields, 'original-mail-from')]),
    time: headerOf(email, 'date') || null,
  };
};
