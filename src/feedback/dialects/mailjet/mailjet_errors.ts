import { judgeBounce } from '../../diagnostic.ts';
import { meaning, ON_COMPLAINT_LIST, ON_PROVIDER_LIST } from '../../notice.ts';
import type { BounceType, Meaning } from '../../notice.ts';
import { joinReasons, readText } from '../reading.ts';
import type { Fields } from '../reading.ts';

/**
 * Mailjet's errors (its "Possible values for errors") that name the cause of a bounce, whatever the
 * reply says.
 */
const CAUSES = new Map<string, BounceType>([
  ['quota exceeded', 'soft'],
  ['no mail host', 'soft'],
  ['greylisted', 'soft'],
  ['system issue', 'soft'],
  ['protocol issue', 'soft'],
  ['connection issue', 'soft'],
  ['blacklisted', 'block'],
  ['spam reporter', 'block'],
  ['relay/access denied', 'block'],
  ['sender blocked', 'block'],
  ['content blocked', 'block'],
  ['policy issue', 'block'],
]);

/** Errors that say of an address that it does not exist. */
const GONE = ['user unknown', 'mailbox inactive', 'invalid domain', 'typofix'];

const errorOf = (fields: Fields): string => readText(fields['error'], 100)?.toLowerCase() ?? '';

/**
 * Only `hard_bounce` makes a bounce permanent: Mailjet reports "user unknown" for temporary
 * refusals, too.
 */
const meaningOfBounce = (fields: Fields): Meaning => {
  const error = errorOf(fields);
  const isHard = fields['hard_bounce'] === true;
  if (error === 'greylisted' && !isHard) return meaning('deferred', 'soft');
  const cause = CAUSES.get(error);
  if (cause) return meaning('bounced', cause);
  const said = isHard ? 'hard' : 'soft';
  return meaning(
    'bounced',
    judgeBounce(said, joinReasons(fields['comment'], fields['smtp_reply'])),
  );
};

/** An email that Mailjet did not send. */
const meaningOfBlocked = (fields: Fields): Meaning => {
  const error = errorOf(fields);
  if (error === 'preblocked' || GONE.includes(error)) return ON_PROVIDER_LIST;
  return error === 'spam reporter' ? ON_COMPLAINT_LIST : meaning('rejected');
};

/** Mailjet's events (its "Event API"), with what each means. */
const MEANINGS = new Map<string, (fields: Fields) => Meaning>([
  ['sent', () => meaning('delivered')],
  ['open', () => meaning('opened')],
  ['click', () => meaning('clicked')],
  ['bounce', meaningOfBounce],
  ['blocked', meaningOfBlocked],
  ['spam', () => meaning('complained')],
  ['unsub', () => meaning('unsubscribed')],
]);

/** Returns what an event of Mailjet means. */
export const meaningOf = (event: string, fields: Fields): Meaning =>
  MEANINGS.get(event)?.(fields) ?? meaning('unknown');
