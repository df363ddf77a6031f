import { judgeBounce } from '../../diagnostic.ts';
import { meaning, ON_COMPLAINT_LIST, ON_PROVIDER_LIST } from '../../notice.ts';
import type { Meaning } from '../../notice.ts';

/** Brevo writes `hard_bounce` in posts and `hardBounce` in its settings. */
export const toEvent = (name: string): string => name.toLowerCase().replaceAll(/[^a-z]/g, '');

/**
 * Why Brevo did not send an email, where its reason says it. Its block list also holds addresses
 * that unsubscribed and that the account blocked by hand, so the list alone proves no bounce.
 */
const BLOCKS: readonly [RegExp, readonly Meaning[]][] = [
  [/bounce|invalid/i, [ON_PROVIDER_LIST]],
  [/spam|complain/i, [ON_COMPLAINT_LIST]],
  [/unsub/i, [meaning('rejected'), meaning('unsubscribed')]],
];

/**
 * Brevo's events of transactional email (its "Transactional webhooks") besides bounces and blocks.
 */
const MEANINGS = new Map<string, Meaning>([
  ['request', meaning('accepted')],
  ['sent', meaning('accepted')],
  ['delivered', meaning('delivered')],
  ['deferred', meaning('deferred', 'soft')],
  ['invalid', meaning('bounced', 'hard')],
  ['invalidemail', meaning('bounced', 'hard')],
  ['error', meaning('failed')],
  ['spam', meaning('complained')],
  ['complaint', meaning('complained')],
  ['unsubscribe', meaning('unsubscribed')],
  ['unsubscribed', meaning('unsubscribed')],
  ['opened', meaning('opened')],
  ['open', meaning('opened')],
  ['uniqueopened', meaning('opened')],
  ['proxyopen', meaning('opened')],
  ['proxyopened', meaning('opened')],
  ['uniqueproxyopen', meaning('opened')],
  ['uniqueproxyopened', meaning('opened')],
  ['loadedbyproxy', meaning('opened')],
  ['click', meaning('clicked')],
  ['clicked', meaning('clicked')],
]);

/** Returns what an event of Brevo means, with the reason that it gives. */
export const meaningsOf = (event: string, reason: string | null): readonly Meaning[] => {
  switch (event) {
    case 'hardbounce':
      return [meaning('bounced', judgeBounce('hard', reason))];
    case 'softbounce':
      return [meaning('bounced', judgeBounce('soft', reason))];
    case 'blocked':
      return BLOCKS.find(([words]) => words.test(reason ?? ''))?.[1] ?? [meaning('rejected')];
    default:
      return [MEANINGS.get(event) ?? meaning('unknown')];
  }
};
