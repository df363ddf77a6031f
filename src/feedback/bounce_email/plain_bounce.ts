import { listAddresses } from './addresses.ts';
import { EXPLANATION_CHARS_MAX, RECIPIENTS_MAX } from './limits.ts';
import { headerOf } from './parts.ts';
import type { Parts } from './parts.ts';
import type { Report, Reported } from './report.ts';
import { readReturned, splitText } from './returned.ts';

/** Who sends bounces: a sender with such a name, or with none (RFC 5321 §4.5.5). */
const MAILER =
  /(?:mailer[-_.]?daemon|mail[-_.]?daemon|post[-_.]?master|mail delivery (?:sub)?system|ndr administrator)/i;
const EMPTY_SENDER = /^\s{0,8}<\s{0,8}>\s{0,8}$/;

/**
 * Words of bounces outside of the standards: qmail and its heirs, Exim, sendmail, Postfix, Exchange, Domino, Gmail,
 * Yahoo, Mimecast, GMX, IONOS, OpenSMTPD, James, and gateways to telephones.
 */
const FAILED = new RegExp(
  [
    'could(?: not|n.t) be delivered|(?:was|were)(?: not|n.t) (?:able to )?(?:be )?deliver(?:ed)?\\b',
    'un?able to deliver|unable to (?:relay|send|process)|not able to deliver|cannot be delivered',
    "can(?:no|')t deliver|(?:has|have) not been delivered|not be delivered|failed to deliver",
    'deliver(?:y|ing) (?:of (?:your|the) message )?(?:has |to the following \\w+ )?(?:permanently )?failed',
    'delivery (?:status )?notification ?[(:] ?(?:failure|error)|delivery fail(?:ure|ed)|failed delivery',
    'undeliver(?:able|ed)|returned mail|returning message|mail failure|failure notice|non.?delivery',
    'permanent (?:fatal )?errors?|no valid recipients|an error has occurred while attempting to deliver',
    'hi\\. this is the|message (?:was )?rejected|invalid user address|unzustellbar|non remis',
    'не может быть доставлено|could not send (?:your )?message|your message to \\S{1,320} (?:was|could)',
    'did not reach|没有送达|退信|配信不能|no se pudo entregar|não pôde ser entregue',
    'nicht zugestellt werden|nie mogła zostać dostarczona|impossibile recapitare|konnte nicht',
  ].join('|'),
  'i',
);

/** Words of a warning: the other server tries again. */
const DELAYED = new RegExp(
  [
    'this is a warning message only|warning: (?:could not send|message \\S{1,60} delayed)',
    '(?:has|have) not yet been delivered|delivery (?:has been |is )?delayed|delivery temporarily suspended',
    'will (?:continue|keep) (?:to try|trying|on trying|to be retried)|do not need to resend',
    'delivery status notification ?[(:] ?delay',
  ].join('|'),
  'i',
);

/** What says in a bounce that the server gave up. */
const FINAL = /permanent(?:ly)? (?:fatal )?(?:error|fail)|given up|giving up|gave up|retry time/i;

/** Lines that are in every bounce of a server, whatever happened. "Permanent" in them is no cause. */
const BOILERPLATE = new RegExp(
  [
    '(?:this|the) (?:message|report) (?:was|is) (?:created|generated) automatically[^\\n]{0,120}',
    '(?:a|the) message that you sent (?:could not|couldn.t) be delivered to one or more(?: of)?',
    '(?:its|the) recipients\\. ?|this is a permanent error(?:[.;][^\\n]{0,80})?',
    '(?:the|for the) following (?:address\\(es\\)|address|recipients?|reason)(?: failed)?:?',
    "i'm (?:sorry to have to inform|afraid i wasn.t able)[^\\n]{0,120}",
    'for further assistance[^\\n]{0,80}',
    '(?:please )?(?:do not|don.t) reply[^\\n]{0,80}',
  ].join('|'),
  'gi',
);

const SUBJECT_CHARS_MAX = 300;

const isFromMailer = (email: Parts): boolean =>
  MAILER.test(headerOf(email, 'from').slice(0, SUBJECT_CHARS_MAX)) ||
  EMPTY_SENDER.test(headerOf(email, 'from')) ||
  EMPTY_SENDER.test(headerOf(email, 'return-path')) ||
  email.headers.has('x-failed-recipients');

const kindOf = (subject: string, words: string): Reported | null => {
  const said = `${subject}\n${words}`;
  if (DELAYED.test(said) && !FINAL.test(words)) return 'deferred';
  return FAILED.test(said) ? 'bounced' : null;
};

/** Returns the recipients of a bounce: from its header, or from the addresses among its words. */
const addressesOf = (email: Parts, words: string): string[] => {
  const failed = (email.headers.get('x-failed-recipients') ?? []).join(' ');
  return listAddresses(`${failed}\n${words}`, RECIPIENTS_MAX);
};

/** Fewer words than this behind an address give no reason. */
const REASON_CHARS_MIN = 12;

/** Where the reply of another host begins: with its code, or with its enhanced code alone. */
const REPLY =
  /(?<![^\s:#("'])(?:[45]\d{2}(?=[ :-] ?#?[45]\.\d|[ :-] ?\p{L})|[45]\.\d{1,3}\.\d{1,3}\b)/u;

/**
 * The words that say why: the reply of the other host, or else what follows the first address, without what every
 * bounce says.
 */
const reasonOf = (words: string, [address = '']: readonly string[]): string | null => {
  const at = address === '' ? -1 : words.indexOf(address);
  const behind = at < 0 ? '' : words.slice(at + address.length).replace(/^[\s>"':,;-]{1,20}/, '');
  const said = behind.length > REASON_CHARS_MIN ? behind : words;
  const reply = REPLY.exec(said);
  const reason = reply ? said.slice(reply.index) : said.replaceAll(BOILERPLATE, ' ');
  return reason.trim() || null;
};

/** Reads a bounce in words for people, as servers outside of RFC 3464 write it; null for any other email. */
export const readPlainBounce = (email: Parts): Report | null => {
  if (!isFromMailer(email)) return null;
  const { explanation, copy } = splitText(email.text);
  const words = explanation.trim().slice(0, EXPLANATION_CHARS_MAX);
  const kind = kindOf(headerOf(email, 'subject').slice(0, SUBJECT_CHARS_MAX), words);
  if (kind === null) return null;
  const addresses = addressesOf(email, words);
  const diagnostic = reasonOf(words, addresses);
  return {
    recipients: [{ kind, addresses, isForwarded: false, diagnostic }],
    ...readReturned(email, copy),
    time: headerOf(email, 'date') || null,
  };
};
