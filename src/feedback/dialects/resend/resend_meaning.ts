import { meaning, ON_PROVIDER_LIST } from '../../notice.ts';
import type { Meaning, RepeatableMeaning } from '../../notice.ts';
import { readList, readObject, readReason, readText } from '../reading.ts';
import type { Fields } from '../reading.ts';
import { meaningOfSesBounce } from '../ses_bounce.ts';

/** Resend sends through Amazon SES, and has its words for bounces. */
const LISTED = /suppress/i;

/** Returns the reply of the recipient's host, where Resend quotes it. */
export const diagnosticOf = ({ diagnosticCode }: Fields): string | null =>
  readReason(diagnosticCode, ...readList(diagnosticCode));

/** Returns what a bounce means: by its type, or by the text alone, as Resend had it before 2025. */
const meaningOfBounce = (bounce: Fields): Meaning => {
  const [type, subType] = [readText(bounce['type']), readText(bounce['subType'])];
  const message = readText(bounce['message']) ?? '';
  if (LISTED.test(subType ?? '') || (type === null && LISTED.test(message)))
    return ON_PROVIDER_LIST;
  const said = type ?? (/hard bounce/i.test(message) ? 'Permanent' : null);
  return meaningOfSesBounce(said, subType, diagnosticOf(bounce));
};

/**
 * Returns what an entry on Resend's suppression list means. Its cause comes as an event of its own,
 * too.
 */
const meaningOfEntry = ({ origin }: Fields): RepeatableMeaning => {
  if (origin === 'complaint') return { ...meaning('complained'), isRepeat: true };
  return origin === 'bounce'
    ? { ...ON_PROVIDER_LIST, isRepeat: true }
    : { ...meaning('unknown'), suppresses: 'provider_suppressed' };
};

/** Resend's event types (its "Event types"), with what each says. */
const MEANINGS = new Map<string, (data: Fields) => RepeatableMeaning>([
  ['email.sent', () => meaning('accepted')],
  ['email.scheduled', () => meaning('accepted')],
  ['email.delivered', () => meaning('delivered')],
  ['email.delivery_delayed', () => meaning('deferred', 'soft')],
  ['email.complained', () => meaning('complained')],
  ['email.bounced', ({ bounce }) => meaningOfBounce(readObject(bounce))],
  ['email.opened', () => meaning('opened')],
  ['email.clicked', () => meaning('clicked')],
  ['email.failed', () => meaning('failed')],
  ['email.suppressed', () => ON_PROVIDER_LIST],
  ['suppression.added', meaningOfEntry],
  ['suppression.removed', () => meaning('unknown')],
  [
    'contact.updated',
    ({ unsubscribed }) => meaning(unsubscribed === true ? 'unsubscribed' : 'unknown'),
  ],
]);

/** Returns what an event of Resend means. */
export const meaningOf = (type: string, data: Fields): RepeatableMeaning =>
  MEANINGS.get(type)?.(data) ?? meaning('unknown');
