import type { AddressState, Suppression } from '../api.ts';
import { inWords } from './statuses.ts';

/** Why an address is suppressed, in words. */
export const reasons: Record<Suppression['reason'], { word: string; color: string }> = {
  hard_bounce: { word: 'Hard bounce', color: 'red' },
  complaint: { word: 'Marked as spam', color: 'red' },
  provider_suppressed: { word: "On the provider's list", color: 'red' },
  soft_bounces: { word: 'Soft bounces in a row', color: 'orange' },
  manual: { word: 'By hand', color: 'gray' },
};

/** The same within a sentence. */
export const reasonInWords = (reason: string): string =>
  (reasons as Record<string, { word: string }>)[reason]?.word.toLowerCase() ?? inWords(reason);

type Change = AddressState['history'][number]['change'];

/** What was done about an address, in words. */
export const changes: Record<Change, string> = {
  suppressed: 'Suppressed',
  released: 'Lifted',
  unsubscribed: 'Unsubscribed',
  resubscribed: 'Subscribed again',
  soft_bounced: 'Soft bounces in a row',
  soft_recovered: 'Delivered again after soft bounces',
};

const sources: Record<string, string> = {
  api: 'the API',
  console: 'the Console',
  link: 'the link in a mail',
  import: 'an import',
};

/** Who told us, in words. */
export const sourceInWords = (source: string): string =>
  sources[source] ??
  inWords(
    source
      .replace(/^webhook\/(.+)$/, 'the $1 webhook')
      .replace(/^bounce_mailbox\/.*$/, 'a report by email')
      .replace(/^hand_off\/(\w+)(?:\/.*)?$/, 'the answer of the provider ($1)'),
  );
