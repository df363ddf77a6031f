import type { FailureReason } from './outcome.ts';

/**
 * What providers say in free text where their codes do not tell causes apart. The same words come over
 * SMTP and in the bodies of their HTTPS answers. The first that fits counts.
 */
const TEXTS: readonly (readonly [RegExp, FailureReason])[] = [
  [
    /daily (?:message |sending )?quota exceeded|quota (?:is )?(?:exceeded|exhausted)/i,
    'quota_exhausted',
  ],
  [/maximum sending rate exceeded|throttling failure|rate ?limit exceeded/i, 'throttled'],
  [
    /api user matching the passed|invalid_api_key|invalid client token|signature mismatch/i,
    'invalid_key',
  ],
  [
    /security token included in the request is invalid|signature we calculated does not match/i,
    'invalid_key',
  ],
  [/not authorized to perform|ENDPOINT_PERMISSION_DENIED/i, 'permission_denied'],
  [
    /credential should be scoped to a valid region|\bdomain (?:\S{1,255} )?not found/i,
    'region_mismatch',
  ],
  [
    /account (?:is |has been )?(?:suspended|disabled)|sending (?:is |has been )?paused/i,
    'account_blocked',
  ],
  [/\bnot verified\b|not a verified (?:sender|domain)/i, 'sender_not_verified'],
];

/**
 * What words are about, by when they are said: before the recipient is named the account, then whom the message is
 * for, and after it the message.
 */
export type SaidOf = 'account' | 'recipient' | 'message';

/**
 * What can only be about the sender's account or the sender, whenever it is said. Mailboxes have quotas, accounts and
 * domains too, and what their hosts say of those is passed on.
 */
const UNMISTAKABLE: readonly (readonly [RegExp, FailureReason])[] = [
  [
    /\b(?:(?:daily|hourly|monthly) (?:\w+ ){0,2}|message |sending |sender )quota (?:is )?(?:exceeded|exhausted)/i,
    'quota_exhausted',
  ],
  [/maximum sending rate exceeded|throttling failure|rate ?limit exceeded/i, 'throttled'],
  [/not authorized to perform/i, 'permission_denied'],
  [
    /\byour account (?:is|was|has been) (?:\w+ )?(?:suspended|disabled|blocked)|\bsending (?:is |has been )?paused/i,
    'account_blocked',
  ],
  [/\bnot verified\b|not a verified (?:sender|domain)/i, 'sender_not_verified'],
];

/** Said of whom a message is for, whatever else is said. */
const ABOUT_RECIPIENT = /\b(?:recipient|mailbox|inbox)\b/i;

/** Which domain is not known: whose mail the relay sends, or where it goes. */
const DOMAIN_NOT_FOUND = /\bdomain (\S{1,255}) not found/i;

const isWithin = (domain: string, other: string): boolean =>
  domain === other || domain.endsWith(`.${other}`);

const isOwnDomain = (text: string, from: string): boolean => {
  const named = DOMAIN_NOT_FOUND.exec(text)?.[1]
    ?.toLowerCase()
    .replace(/[^\w.-]/g, '');
  const own = from.slice(from.lastIndexOf('@') + 1).toLowerCase();
  return !!named && own !== '' && (isWithin(named, own) || isWithin(own, named));
};

/** The failure that a provider's words name, or null. `from`: whose domain it is that a relay may not know. */
export const readReason = (
  text: string,
  saidOf: SaidOf = 'account',
  from = '',
): FailureReason | null => {
  if (saidOf === 'recipient' && ABOUT_RECIPIENT.test(text)) return null;
  const texts = saidOf === 'account' ? TEXTS : UNMISTAKABLE;
  const reason = texts.find(([words]) => words.test(text))?.[1] ?? null;
  if (reason === null && saidOf === 'message' && isOwnDomain(text, from)) return 'region_mismatch';
  return reason;
};

const FAILED_IDENTITIES =
  /following identities failed the check in region [\w-]{1,32}: *([^\r\n]{1,1000})/i;

/**
 * Amazon SES names the identities that it wants verified. In a sandboxed account that may be the
 * recipient alone: then nothing is wrong with the sender.
 */
export const isAboutOther = (text: string, from: string): boolean => {
  const [, named] = FAILED_IDENTITIES.exec(text) ?? [];
  if (named === undefined || from === '') return false;
  const sender = from.toLowerCase();
  const own = [sender, sender.slice(sender.lastIndexOf('@') + 1)];
  return !named
    .toLowerCase()
    .split(/[\s,<>]+/)
    .some((identity) => own.includes(identity));
};
