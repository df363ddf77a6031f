import { judgeBounce } from '../../diagnostic.ts';
import { meaning, ON_COMPLAINT_LIST, ON_PROVIDER_LIST } from '../../notice.ts';
import type { Meaning } from '../../notice.ts';
import { joinReasons, readText } from '../reading.ts';
import type { Fields } from '../reading.ts';

/** SendGrid's events (its Event Webhook Reference) besides bounces and drops. */
const MEANINGS = new Map<string, Meaning>([
  ['processed', meaning('accepted')],
  ['delivered', meaning('delivered')],
  ['deferred', meaning('deferred', 'soft')],
  ['open', meaning('opened')],
  ['click', meaning('clicked')],
  ['spamreport', meaning('complained')],
  ['unsubscribe', meaning('unsubscribed')],
  ['group_unsubscribe', meaning('unsubscribed')],
  ['group_resubscribe', meaning('resubscribed')],
]);

/** Why SendGrid did not send an email, by the first words of its reason. */
const DROPS: readonly [RegExp, readonly Meaning[]][] = [
  [/^bounced address|^invalid$/i, [ON_PROVIDER_LIST]],
  [/^spam reporting address/i, [ON_COMPLAINT_LIST]],
  [/unsubscribed/i, [meaning('rejected'), meaning('unsubscribed')]],
];

/** What SendGrid says of the cause where it is not the address. */
const OTHER_CLASSES = ['reputation', 'content', 'frequency or volume too high'];
const OF_MAILBOX = ['mailbox unavailable', 'technical'];

/**
 * Returns how hard a bounce is. SendGrid calls a final refusal `bounce` and a temporary one
 * `blocked`, and classifies the reply of the host.
 */
const bounceTypeOf = (fields: Fields): Meaning['bounceType'] => {
  const type = readText(fields['type'])?.toLowerCase();
  if (type === 'blocked') return 'block';
  const text = joinReasons(fields['reason'], fields['response'], fields['status']);
  const judged = judgeBounce(type === 'expired' ? 'soft' : 'hard', text);
  if (judged !== 'hard') return judged;
  const classified = readText(fields['bounce_classification'])?.toLowerCase() ?? '';
  if (OTHER_CLASSES.includes(classified)) return 'block';
  return OF_MAILBOX.includes(classified) ? judgeBounce(null, text) : judged;
};

/** Returns what an event of SendGrid means: a drop for an unsubscribe is two things. */
export const meaningsOf = (event: string, fields: Fields): readonly Meaning[] => {
  if (event === 'bounce') return [meaning('bounced', bounceTypeOf(fields))];
  if (event !== 'dropped') return [MEANINGS.get(event) ?? meaning('unknown')];
  const reason = readText(fields['reason']) ?? '';
  return DROPS.find(([words]) => words.test(reason))?.[1] ?? [meaning('rejected')];
};
