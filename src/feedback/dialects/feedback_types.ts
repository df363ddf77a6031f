import { meaning } from '../notice.ts';
import type { Meaning } from '../notice.ts';

/** Types of reports of a feedback loop that are no complaints (RFC 5965 §7.3, RFC 6430, RFC 6591). */
const OTHERS = new Map<string, Meaning>([
  ['not-spam', meaning('not_spam')],
  ['opt-out', meaning('unsubscribed')],
  ['opt-out-list', meaning('unsubscribed')],
  ['auth-failure', meaning('unknown')],
]);

/** Returns what a report of a feedback loop means, by its type: a complaint, unless the type says otherwise. */
export const meaningOfFeedbackType = (type: string | null): Meaning =>
  OTHERS.get(type?.trim().toLowerCase() ?? '') ?? meaning('complained');
