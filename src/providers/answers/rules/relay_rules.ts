import { phrases } from './phrases.ts';
import type { Rule } from './rule.ts';

/** Refusals to pass email on. */
export const RELAY_RULES: readonly Rule[] = [
  {
    when: phrases(`
      relay* (access |attempt |mail )?(is |are |was )?(denied|not (permitted|allowed|authori[sz]ed|accepted)|prohibited|rejected|refused|forbidden|blocked|disabled|disallowed)
      (not|n't|no|unable|cannot|denied|deny|denies|refuse|invalid credentials for) _ _ (to |as |an |a )?(open )?relay*|we do(n't| not) relay|as a relay|relay access|rcpthosts?|relay check|host denies relay
      not a (gateway|relay)|(we|server) do(es)?(n't| not) handle (mail|e-?mail)|we don't handle mail for|use your (isp|provider)('s)? (smtp|mail)|mx do not point to us|relay prohibited|(unauthorized|unauthorised) relay|specified domain is not allowed|local user only`),
    not: phrases(`which is an open relay|insecure mail relay|openrelay|smtp relay limit|relay limit`),
    means: 'relay_denied',
  },
];

/** Trouble of the server itself: it passes. */
export const TEMPORARY_RULES: readonly Rule[] = [
  {
    when: phrases(`
      {mailbox} ... {temporary}
      (user|account|@to|@addr) ... (temporar*|busy|locked|try again|try later)`),
    code: /^[45]5[0-9]/,
    at: ['rcpt', 'body', 'any'],
    not: phrases(`mail server|system|service|mailbox(es)? server`),
    means: 'temporary_recipient',
  },
  {
    when: phrases(`
      (server|system|service|local|internal|resource*|disk|queue|database|backend|dns|lookup|configuration|config|temporary|mailer|policy|filter|scanner|content|unexpected|upstream|network|routing|remote) _ (error|failure|failed|problem|unavailable|busy|overload*|down|shutting|full|timeout|not available|shortage|low|maintenance|out of|not accepting|not active)
      insufficient (system|disk)|out of (memory|disk|resources|space)|no space|too (busy|much load)|load (average|too high)|overload*|shutting down|maintenance|internal error|error in processing|unable to process|not accepting (connections|mail|messages)|unknown error|blame it on
      {temporary}|unavailable|service not (available|active)|closing (transmission|connection)|unable to read controls|can't create _ output|cannot create|cannot accept`),
    means: 'temporary_local',
  },
];
