import { judgeBounce } from '../../diagnostic.ts';
import { meaning, ON_PROVIDER_LIST } from '../../notice.ts';
import type { Meaning } from '../../notice.ts';

/**
 * Postmark refuses an inactive recipient by error 406 of its API; over SMTP that becomes a bounce.
 */
const INACTIVE = /inactive recipient|marked as inactive|\b406\b/i;

const BLOCK = meaning('bounced', 'block');
const AUTO_REPLY = meaning('auto_reply');

/**
 * Postmark's types of bounces (its Bounce API, "Bounce types"), with what each says. Several are no
 * bounces: replies of people and machines to an email that was delivered, and refusals of Postmark
 * itself.
 */
const TYPES = new Map<string, (details: string | null) => Meaning>([
  ['HardBounce', (details) => meaning('bounced', judgeBounce('hard', details))],
  ['BadEmailAddress', () => meaning('bounced', 'hard')],
  ['SoftBounce', (details) => meaning('bounced', judgeBounce('soft', details))],
  ['DnsError', () => meaning('bounced', 'soft')],
  ['Transient', () => meaning('deferred', 'soft')],
  ['Unknown', () => meaning('bounced', 'undetermined')],
  ['Blocked', () => BLOCK],
  ['SpamNotification', () => BLOCK],
  ['VirusNotification', () => BLOCK],
  ['DMARCPolicy', () => BLOCK],
  ['SpamComplaint', () => meaning('complained')],
  ['Unsubscribe', () => meaning('unsubscribed')],
  ['AutoResponder', () => AUTO_REPLY],
  ['ChallengeVerification', () => AUTO_REPLY],
  ['AddressChange', () => AUTO_REPLY],
  // An email with the word "subscribe" is no consent.
  ['Subscribe', () => meaning('unknown')],
  ['OpenRelayTest', () => meaning('unknown')],
  ['InboundError', () => meaning('unknown')],
  ['ManuallyDeactivated', () => ({ ...meaning('rejected'), suppresses: 'provider_suppressed' })],
  ['Unconfirmed', () => meaning('rejected')],
  [
    'SMTPApiError',
    (details) => (INACTIVE.test(details ?? '') ? ON_PROVIDER_LIST : meaning('failed')),
  ],
  ['TemplateRenderingFailed', () => meaning('failed')],
]);

/** Returns what a bounce of Postmark means, by its type and by the reply that its details quote. */
export const meaningOfBounce = (type: string, details: string | null): Meaning =>
  TYPES.get(type)?.(details) ?? meaning('bounced', judgeBounce(null, details));
