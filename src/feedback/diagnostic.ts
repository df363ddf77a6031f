import { GONE_ENHANCED, NEVER_ACCEPTS, readCodes } from '../base/reply_codes.ts';
import { classifyRepeatedReply, repliesOtherCause } from '../providers/providers.ts';
import type { Classification } from '../providers/providers.ts';
import type { BounceType } from './notice.ts';

/**
 * What a diagnostic text says about a recipient. `hard`: the mailbox or the domain does not exist,
 * or is disabled. `soft`: the mailbox is full, or takes no email at the moment. `not_of_recipient`:
 * the cause is the sender, its account, its reputation, a policy, or the message. `unsaid`: none of
 * these.
 */
export type Diagnosis = 'hard' | 'soft' | 'not_of_recipient' | 'unsaid';

/** Which addresses the text may name: words in them are no words of the reply. */
export type Parties = { from?: string; to?: string };

type Meant = Classification['meaning'];
const GONE: readonly Meant[] = ['recipient_unknown', 'recipient_disabled'];
const NOT_NOW: readonly Meant[] = [
  'mailbox_full',
  'temporary_recipient',
  'greylisted',
  'temporary_local',
];

/** A refusal by policy that says itself that it passes is soft. */
const PASSES = /temporar(?:y|ily)|try again|at this time\b/i;

const MAILBOX_FULL_CODE = 552;
const OF_SENDER = ['5.1.7', '5.1.8', '5.1.20', '5.2.3', '5.3.4', '5.4.5', '5.4.6'];

/** What the codes of a reply say where its words say nothing. */
const byCodes = (text: string): Diagnosis => {
  const { code, enhanced } = readCodes([], [text]);
  if (enhanced !== null) {
    if (/^5\.(?:6|7)\./.test(enhanced) || OF_SENDER.includes(enhanced)) return 'not_of_recipient';
    if (GONE_ENHANCED.includes(enhanced)) return repliesOtherCause(text) ? 'soft' : 'hard';
    return /^4\.|^5\.2\.2$/.test(enhanced) ? 'soft' : 'unsaid';
  }
  if (code !== null && NEVER_ACCEPTS.includes(code)) return 'hard';
  return code === MAILBOX_FULL_CODE || (code !== null && code < 500) ? 'soft' : 'unsaid';
};

/** A relay that found no such domain gives no code of the recipient's host. */
const NO_DOMAIN =
  /\b(?:host|domain)(?: or domain)? (?:name )?(?:not found|unknown|does not exist)|\bnxdomain\b/i;

const isTemporary = (text: string): boolean => {
  const { code, enhanced } = readCodes([], [text]);
  return enhanced === null ? code !== null && code < 500 : enhanced.startsWith('4.');
};

const isDomainGone = (text: string): boolean =>
  NO_DOMAIN.test(text) && !PASSES.test(text) && !isTemporary(text);

const isUnsure = ({ scope, meaning }: Classification): boolean =>
  scope === 'relay' && meaning === 'other';

const diagnosisOf = (found: Classification, text: string): Diagnosis => {
  const { scope, meaning, retry } = found;
  if (GONE.includes(meaning)) return 'hard';
  if (scope === 'relay' && meaning !== 'reputation_refused' && isDomainGone(text)) return 'hard';
  if (NOT_NOW.includes(meaning) || (scope === 'connection' && retry === 'later')) return 'soft';
  if (isUnsure(found)) return byCodes(text);
  if (meaning !== 'recipient_policy') return 'not_of_recipient';
  const { code } = readCodes([], [text]);
  if (code !== null && NEVER_ACCEPTS.includes(code)) return 'hard';
  return PASSES.test(text) ? 'soft' : 'not_of_recipient';
};

/** RFC 5321, section 4.2.3, has these words for a missing mailbox and for policy alike. */
const UNAVAILABLE =
  /(?:requested (?:mail )?action not taken:?\s{0,3})?mailbox (?:is )?unavailable\.?/gi;

/**
 * Mailboxes of Outlook.com. Its hosts say "mailbox unavailable" of a mailbox that does not exist, and give
 * policies and reputation other words.
 */
const OF_OUTLOOK =
  /@(?:hotmail|live|outlook|msn|windowslive|passport)\.[a-z]{2,3}(?:\.[a-z]{2})?$/i;

/** The whole reply says that, but for codes and numbers of a session. */
const UNAVAILABLE_ALONE = new RegExp(
  '^[\\s\\d.;:()[\\]smtp-]{0,60}requested (?:mail )?action not taken:?\\s{0,8}' +
    'mailbox unavailable\\b(?![^.\\n]{0,80}[a-z]{3})',
  'i',
);

const isUnknownToOutlook = (reply: string, to: string | undefined): boolean =>
  OF_OUTLOOK.test(to ?? '') && !isTemporary(reply) && UNAVAILABLE_ALONE.test(reply);

/** The receiving host took the message: what bounced it later is not in its reply. */
const ACCEPTED = /^\s{0,8}2\d{2}[ -]/;

const IP_ADDRESS = /\b\d{1,3}(?:\.\d{1,3}){3}\b/g;

/** The address of a host beside no code: which host refused says nothing about why. */
const withoutNumbers = (text: string): string => {
  const { code, enhanced } = readCodes([], [text]);
  return code === null && enhanced === null ? text.replaceAll(IP_ADDRESS, ' ') : text;
};

/**
 * Returns what a diagnostic text says about the recipient, by the same rules as the answers of
 * relays (`providers/answers`). "Mailbox unavailable" alone says nothing: the other words and the
 * codes decide.
 */
export const classifyDiagnostic = (text: string | null, parties: Parties = {}): Diagnosis => {
  const reply = withoutNumbers(text ?? '');
  if (ACCEPTED.test(reply)) return 'unsaid';
  const diagnose = (said: string): Diagnosis =>
    diagnosisOf(classifyRepeatedReply({ reply: said, phase: 'any', ...parties }), said);
  const diagnosis = diagnose(reply);
  const others = reply.replaceAll(UNAVAILABLE, ' ');
  if (others === reply) return diagnosis;
  const besides = diagnose(others);
  if (besides === 'unsaid' && isUnknownToOutlook(reply, parties.to)) return 'hard';
  return diagnosis === 'hard' ? besides : diagnosis;
};

/**
 * Returns how hard a bounce is. The provider's own word counts, unless the diagnostic text names
 * another cause: then a bounce is less hard than the provider says, and never harder. Without a
 * word of the provider the text decides, and a text that says nothing makes a soft bounce.
 */
export const judgeBounce = (
  said: BounceType | null,
  text: string | null,
  parties: Parties = {},
): BounceType => {
  if (said === 'block' || said === 'undetermined') return said;
  const diagnosis = classifyDiagnostic(text, parties);
  if (diagnosis === 'not_of_recipient') return 'block';
  if (said === 'soft' || diagnosis === 'soft') return 'soft';
  return said === 'hard' || diagnosis === 'hard' ? 'hard' : 'soft';
};
