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

/** The failure that a provider's words name, or null. */
export const readReason = (text: string): FailureReason | null =>
  TEXTS.find(([words]) => words.test(text))?.[1] ?? null;

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
