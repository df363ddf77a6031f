import { GONE_ENHANCED, NEVER_ACCEPTS, readCodes } from '../base/bounce_type.ts';
import type { Meaning } from './notice.ts';

/**
 * What a diagnostic text says about a recipient. `hard`: the mailbox or the domain does not exist,
 * or is disabled. `soft`: the mailbox is full, or takes no email at the moment. `not_of_recipient`:
 * the cause is the sender, its account, its reputation, a policy, or the message. `unsaid`: none of
 * these.
 */
export type Diagnosis = 'hard' | 'soft' | 'not_of_recipient' | 'unsaid';

/** Words in addresses, URLs and hosts of ids are no words of the reply. */
const withoutNames = (text: string): string =>
  text
    .replaceAll(/https?:\/\/\S{1,500}/gi, ' ')
    .replaceAll(/<[^<>\s]{1,320}>/g, ' ')
    .replaceAll(/[^\s<>@]{1,64}@[^\s<>@]{1,255}/g, ' ')
    .replaceAll(/\s+/g, ' ');

/** Microsoft 365 answers so for recipients that it does not know. */
const EDGE_REFUSAL = /recipient addresse?s? rejected: access denied/i;

/** Joins patterns of words; none cares about capitals. */
const anyOf = (...patterns: readonly RegExp[]): RegExp =>
  new RegExp(patterns.map(({ source }) => source).join('|'), 'i');

/** Words for causes that are not the recipient's mailbox. */
const OTHER_CAUSES = anyOf(
  /\b(?:spam|spamming|unsolicited|junk|ube|uce|bulk|phish\w*|virus\w*|malware|infected)\b/,
  /black ?list|block ?list|\bblocked\b|\bdnsbl\b|\brbl\b|listed (?:at|by|in|on)\b/,
  /spamhaus|barracuda|spamcop|uribl/,
  /reputation|polic(?:y|ies)\b|prohibit\w*|suspicious|unusual|complaints?\b|untrusted/,
  /\b(?:spf|dkim|dmarc|ptr|rdns)\b|reverse (?:dns|hostname)|anti-?spoof\w*/,
  /unauthenticated|authenticat\w+|not authori[sz]ed|not permitted/,
  /\bsender\b|sending|\bfrom (?:header|address)\b|header|envelope from/,
  /relay(?:ing)? (?:\w+ ){0,2}(?:denied|not|disallowed)|relaying/,
  /too (?:many|large|big|long)|rate ?limit|throttl\w*/,
  /message size|size (?:limit|exceeds)|\bcontent\b|attachment/,
  /client host|\bip address\b|your (?:ip|email|server|domain)\b/,
  /\btls\b|starttls|helo|ehlo|mail loop|too many hops|\bdns\b|resolv\w+ mx|rules?\b/,
);

/** Words for a mailbox that is there and takes no email now. */
const NOT_NOW = anyOf(
  /\b(?:over|exceed\w*) ?(?:\w+ ){0,2}quota/,
  /quota (?:\w+ ){0,2}(?:exceed|violat|full|reach)\w*/,
  /(?:mail ?box|inbox|account|user|folder|storage)\b[^.;]{0,40}\bfull\b|\bfull (?:mail ?box|inbox)/,
  /storage (?:allocation|space|limit)|out of (?:storage|space)|mail ?box size limit/,
  /receiving (?:mail|email|messages) (?:at a rate|too quickly)|recipient (?:thread )?limit/,
  /temporar(?:y|ily)|try again|greylist\w*|grey-?list\w*|deferred|later\b|at this time\b/,
);

/** What a reply may call the recipient, and what it may say of it. */
const WHO = String.raw`(?:user|recipient|mail ?box|account|address|customer)`;
const IS_GONE = [
  'unknown|not found|not exist',
  'invalid|disabled|deactivated|suspended|closed|terminated|frozen|expired',
].join('|');
const GONE_BEFORE = [
  'unknown|invalid|disabled|deactivated|inactive',
  'no such|not a valid|non-?existent|bad destination',
].join('|');

/** Words for a mailbox or a domain that does not exist, or is disabled. */
const GONE = anyOf(
  new RegExp(String.raw`\b${WHO}\b(?: \S+){0,2}? (?:is )?(?:${IS_GONE})`),
  new RegExp(String.raw`\b(?:${GONE_BEFORE}) (?:\w+ )?(?:${WHO}|domain)`),
  new RegExp(String.raw`\bno (?:such )?${WHO}\b`),
  /\bno (?:mail ?box|user) (?:here|by that name)|\bno such (?:domain|person|local)/,
  /(?:does not|doesn['’]?t|do not|did not) (?:exist|have (?:an?|such) )/,
  /is no longer (?:valid|available|active|on)|no longer on server|not our customer/,
  /invalid-?recipient|recipient-?not-?found|not listed in|could not be found/,
  /(?:host|domain)(?: or domain)? (?:name )?(?:not found|unknown|does not exist)|\bnxdomain\b/,
  /incoming suspended|mail ?box (?:\S+ ){0,3}is unavailable: account/,
);

const OF_SENDER = ['5.1.7', '5.1.8', '5.1.20', '5.2.3', '5.3.4', '5.4.5', '5.4.6'];
const MAILBOX_FULL_CODE = 552;

/** What the codes of a reply say where its words say nothing. */
const byCodes = (text: string): Diagnosis => {
  const { code, enhanced } = readCodes([], [text]);
  if (enhanced !== null) {
    if (/^5\.(?:6|7)\./.test(enhanced) || OF_SENDER.includes(enhanced)) return 'not_of_recipient';
    if (GONE_ENHANCED.includes(enhanced)) return 'hard';
    return /^4\.|^5\.2\.2$/.test(enhanced) ? 'soft' : 'unsaid';
  }
  if (code !== null && NEVER_ACCEPTS.includes(code)) return 'hard';
  return code === MAILBOX_FULL_CODE || (code !== null && code < 500) ? 'soft' : 'unsaid';
};

/** Whether a reply is temporary, whatever its words say. */
const isTemporary = (text: string): boolean => {
  const { code, enhanced } = readCodes([], [text]);
  return enhanced === null ? code !== null && code < 500 : enhanced.startsWith('4.');
};

/**
 * Returns what a diagnostic text says about the recipient. Words count before codes: hosts use
 * 5.1.1 for a full mailbox and 5.7.1 for an unknown user. Words for another cause count before all
 * others, so that no living mailbox is taken for one that is gone. "Mailbox unavailable" alone says
 * nothing: RFC 5321, section 4.2.3, has it for policy, too.
 */
export const classifyDiagnostic = (text: string | null): Diagnosis => {
  const reply = text ?? '';
  const words = withoutNames(reply);
  if (EDGE_REFUSAL.test(words)) return 'hard';
  if (OTHER_CAUSES.test(words)) return 'not_of_recipient';
  if (NOT_NOW.test(words)) return 'soft';
  if (!GONE.test(words)) return byCodes(reply);
  return isTemporary(reply) ? 'soft' : 'hard';
};

type BounceType = NonNullable<Meaning['bounceType']>;

/**
 * Returns how hard a bounce is. The provider's own word counts, unless the diagnostic text names
 * another cause: then a bounce is less hard than the provider says, and never harder. Without a
 * word of the provider the text decides, and a text that says nothing makes a soft bounce.
 */
export const judgeBounce = (said: BounceType | null, text: string | null): BounceType => {
  if (said === 'block' || said === 'undetermined') return said;
  const diagnosis = classifyDiagnostic(text);
  if (diagnosis === 'not_of_recipient') return 'block';
  if (said === 'soft' || diagnosis === 'soft') return 'soft';
  return said === 'hard' || diagnosis === 'hard' ? 'hard' : 'soft';
};
