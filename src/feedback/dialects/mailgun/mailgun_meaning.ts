import { judgeBounce } from '../../diagnostic.ts';
import { meaning, ON_COMPLAINT_LIST, ON_PROVIDER_LIST } from '../../notice.ts';
import type { Meaning } from '../../notice.ts';
import { joinReasons, readObject, readText } from '../reading.ts';
import type { Fields } from '../reading.ts';

const MEANINGS = new Map<string, Meaning>([
  ['accepted', meaning('accepted')],
  ['delivered', meaning('delivered')],
  ['opened', meaning('opened')],
  ['clicked', meaning('clicked')],
  ['complained', meaning('complained')],
  ['unsubscribed', meaning('unsubscribed')],
  ['rejected', meaning('rejected')],
]);

const UNSUBSCRIBED = [meaning('rejected'), meaning('unsubscribed')];

/**
 * What Mailgun did not even try, for what its own lists say of the address: by reason, and by code.
 */
const OF_THEIR_LISTS = new Map<unknown, readonly Meaning[]>([
  ['suppress-bounce', [ON_PROVIDER_LIST]],
  [605, [ON_PROVIDER_LIST]],
  ['suppress-complaint', [ON_COMPLAINT_LIST]],
  [607, [ON_COMPLAINT_LIST]],
  ['suppress-unsubscribe', UNSUBSCRIBED],
  [606, UNSUBSCRIBED],
  // "Poor mailing list quality": of the sender.
  [625, [meaning('rejected')]],
]);

/** No host takes email for the domain, or none could be reached: not the mailbox's word. */
const NO_REPLY_CODES = [0, 498, 499];

/**
 * Returns what a permanent failure means. Mailgun calls a bounce what a host refused for good,
 * whatever the cause: the text decides. Where the host's answer is not there at all, Mailgun's word
 * does.
 */
const meaningsOfPermanent = (reason: string, status: Fields): readonly Meaning[] => {
  const code = Number(readText(status['code']) ?? Number.NaN);
  const listed = OF_THEIR_LISTS.get(reason) ?? OF_THEIR_LISTS.get(code);
  if (listed) return listed;
  if (reason === 'espblock') return [meaning('bounced', 'block')];
  if (reason === 'old' || NO_REPLY_CODES.includes(code)) return [meaning('bounced', 'soft')];

  const text = joinReasons(
    status['enhanced-code'],
    status['code'],
    status['message'],
    status['description'],
  );
  const isSaidPermanent =
    reason === 'bounce' || reason === 'hardfail' || (text === null && reason !== 'greylisted');
  return [meaning('bounced', judgeBounce(isSaidPermanent ? 'hard' : null, text))];
};

/** Returns what an event of Mailgun means: a drop for an unsubscribe is two things. */
export const meaningsOf = (event: string, fields: Fields): readonly Meaning[] => {
  if (event !== 'failed') return [MEANINGS.get(event) ?? meaning('unknown')];
  const reason = readText(fields['reason']) ?? '';
  return fields['severity'] === 'permanent'
    ? meaningsOfPermanent(reason, readObject(fields['delivery-status']))
    : [meaning('deferred', 'soft')];
};
