import type { SmtpPhase, VerdictName } from '../verdicts.ts';

/** What a detail of an enhanced code means for 5.x.y, and for 4.x.y where that differs. */
type Meaning = { means: VerdictName; at4xx?: VerdictName; at?: readonly SmtpPhase[] };

const unknown: Meaning = { means: 'recipient_unknown', at4xx: 'temporary_recipient' };
const syntax: Meaning = { means: 'message_syntax', at4xx: 'message_later' };
const protocol: Meaning = { means: 'protocol', at4xx: 'temporary_local' };
const local: Meaning = { means: 'temporary_local' };

/**
 * Enhanced codes by the IANA registry (RFC 3463, 5248, 7372, 7504, 7505): what they say where
 * words say nothing.
 */
const MEANINGS: Record<string, Meaning> = {
  '1.1': unknown,
  '1.2': unknown,
  '1.3': unknown,
  '1.6': unknown,
  '1.7': { means: 'sender_syntax' },
  '1.8': { means: 'sender_dns' },
  '1.10': unknown,
  '2.0': { means: 'unsure', at4xx: 'temporary_recipient' },
  '2.1': { means: 'recipient_disabled', at4xx: 'temporary_recipient' },
  '2.2': { means: 'mailbox_full' },
  '2.3': { means: 'too_large_for_recipient' },
  '2.4': { means: 'recipient_policy', at4xx: 'temporary_recipient' },
  '3.0': local,
  '3.1': local,
  '3.2': local,
  '3.3': local,
  '3.4': { means: 'message_too_large' },
  '3.5': local,
  '4.0': local,
  '4.1': local,
  '4.2': local,
  '4.3': local,
  '4.4': { means: 'unsure', at4xx: 'temporary_local' },
  '4.5': local,
  '4.6': { means: 'message_other' },
  '4.7': { means: 'temporary_recipient' },
  '5.0': { means: 'unsure', at4xx: 'temporary_local' },
  '5.1': protocol,
  '5.2': protocol,
  '5.3': { means: 'message_later' },
  '5.4': protocol,
  '5.5': protocol,
  '5.6': protocol,
  '6.0': syntax,
  '6.1': syntax,
  '6.2': syntax,
  '6.3': syntax,
  '6.5': syntax,
  '6.6': syntax,
  '6.7': syntax,
  '6.9': syntax,
  '6.10': syntax,
  '7.2': { means: 'recipient_policy' },
  '7.8': { means: 'auth_failed' },
  '7.9': { means: 'auth_required' },
  '7.10': { means: 'tls_required' },
  '7.11': { means: 'tls_required' },
  '7.12': { means: 'auth_failed' },
  '7.13': { means: 'account_suspended' },
  '7.14': { means: 'auth_required' },
  '7.17': { means: 'recipient_unknown' },
  '7.18': { means: 'recipient_unknown' },
  '7.20': { means: 'sender_reputation' },
  '7.21': { means: 'sender_reputation' },
  '7.22': { means: 'sender_reputation' },
  '7.23': { means: 'sender_reputation' },
  '7.24': { means: 'sender_reputation' },
  '7.25': { means: 'relay_reputation', at4xx: 'relay_reputation_later' },
  '7.26': { means: 'sender_reputation' },
  '7.27': { means: 'sender_dns' },
  '7.28': { means: 'relay_reputation', at4xx: 'relay_reputation_later' },
  '7.29': { means: 'sender_reputation' },
  '7.30': { means: 'tls_required' },
};

/** The meaning of an enhanced code by itself, or null. */
export const meaningOfEnhanced = (enhanced: string | null): VerdictName | null => {
  if (enhanced === null) return null;
  const found = MEANINGS[enhanced.slice(2)];
  if (found === undefined) return null;
  return enhanced.startsWith('4') ? (found.at4xx ?? found.means) : found.means;
};
