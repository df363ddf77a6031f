import { anyOf } from '../rules/pattern.ts';
import type { Pattern } from '../rules/pattern.ts';
import type { VerdictName } from '../verdicts.ts';

/** What a part of an error's name says: `suspended_api_key`, `InvalidFromAddress`. */
type Words = { words: Pattern; means: VerdictName };

/**
 * The words of names that APIs give to errors, the first that fits counts. Only names that say what
 * is wrong with the account, the sender or the service: what is wrong with a request or a
 * recipient shows in the message.
 */
const CODE_WORDS: readonly Words[] = [
  {
    words: /recipient|validation|^invalid_(?:parameter|idempot)|attachment|template|unsubscribe/,
    means: 'unsure',
  },
  {
    words: /(?:suspend|banned|blocked|disabled|deactivated|closed|frozen)/,
    means: 'account_suspended',
  },
  {
    words: /paused|under_?(?:review|validation)|pending|not_?activated/,
    means: 'account_suspended',
  },
  {
    words: /credits?|payment|billing|funds|balance|plan_|subscription|trial/,
    means: 'plan_used_up',
  },
  {
    words: /rate_?limit|throttl|quota|too_?many_?requests|limit_?exceeded|daily_?limit|slow_?down/,
    means: 'account_limit',
  },
  {
    words: anyOf(
      /(?:sender|from|identity|domain).{0,20}not_?(?:verified|allowed|found|authori[sz]ed)/,
      /(?:sender|from|identity|domain).{0,20}(?:unverified|invalid|denied|mismatch)/,
    ),
    means: 'sender_not_allowed',
  },
  {
    words: /(?:invalid|unverified|unauthori[sz]ed)_?(?:sender|from|identity|domain)/,
    means: 'sender_not_allowed',
  },
  {
    words: /permission|scope|forbidden_?action|access_?denied|not_?permitted|restricted/,
    means: 'auth_required',
  },
  {
    words:
      /(?:invalid|missing|expired|revoked|bad|wrong)_?(?:api_?)?(?:key|token|credentials?|auth|signature)/,
    means: 'auth_failed',
  },
  { words: /unauthenticated|authentication_?(?:failed|required)/, means: 'auth_failed' },
  {
    words:
      /locked|conflict|concurrent|in_?progress|unavailable|timeout|internal_?(?:error|server)|maintenance|overload/,
    means: 'temporary_local',
  },
];

/** Names in one form: `AccountSuspendedException` and `account-suspended` as `account_suspended`. */
const spell = (code: string): string => code.replace(/[^a-z0-9]{1,20}/g, '_');

/** The meaning of an error's name by the words in it, or null. */
export const meaningOfCodeWords = (codes: readonly string[]): VerdictName | null => {
  for (const code of codes.filter((each) => /[a-z]/.test(each)).map(spell)) {
    const found = CODE_WORDS.find(({ words }) => words.test(code));
    if (found !== undefined && found.means !== 'unsure') return found.means;
  }
  return null;
};
