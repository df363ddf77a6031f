import { phrases } from './phrases.ts';
import type { Rule } from './rule.ts';

/** Plain refusals to pass email on: whatever else the reply says, the login may not relay. */
export const RELAY_DENIED_RULES: readonly Rule[] = [
  {
    when: phrases(`
      relay(ing)? (access )?(is )?(denied|not (permitted|allowed)|prohibited)|unable to relay
      (no|not|refuse*|deny|denied|disallow*) ... (forward*|relay*|sending) (to|for) (outside|external|remote|
        foreign|other|non ?local) (domains?|addresses|users|hosts?)
      (forward*|relay*|sending) (to|for) (outside|external|remote|foreign|other|
        non ?local) (domains?|addresses|users|hosts?) ... (not|denied|refused|disabled|disallowed|
        forbidden|prohibited)
      (not|n't) (carry|forward|transport|pass on|handle) (mail|e-?mail|messages) for (third parties|
        others|strangers|other)
      only accepts? (mail|e-?mails?|messages) (for|to) (our|its|local|own|@host|@fromdomain|this (host|server))
      (is|are) not relayed
      (not|n't) (permitted|allowed|authori[sz]ed) to relay|only allowed to send to local
      (not|n't) forward[a-z]{0,3} (mail |e-?mail )?(to|for) (other|foreign|external|remote)
      only accepts? local (recipients?|users?|domains?|addresses)
    `),
    not: phrases(`sender|tls|as @(addr|from)|open relay`),
    means: 'relay_denied',
  },
];

/** Refusals to pass email on. */
export const RELAY_RULES: readonly Rule[] = [
  {
    when: phrases(`
      relay* (access |attempt |mail )?(is |are |was )?(denied|not (permitted|allowed|
        authori[sz]ed|accepted)|prohibited|rejected|refused|forbidden|blocked|disabled|
        disallowed)
      relay* (to|for|from) ... (denied|prohibited|forbidden|refused|disallowed|not (allowed|permitted))
      (not|n't|no|unable|cannot|denied|deny|denies|refuse|invalid credentials for) _ _ (to |as |
        an |a )?(open )?relay*
      we do(n't| not) relay|as a relay|relay access|rcpthosts?|relay check
      list of allowed (rcpt ?)?hosts?|host denies relay
      not a (gateway|relay)|(we|server) do(es)?(n't| not) handle (mail|e-?mail)
      we don't handle mail for|use your (isp|provider)('s)? (smtp|mail)|mx do not point to us
      relay prohibited|(account|not responsible) for this domain|retransmission denied
      ^(recipient )?domain (is )?not (allowed|accepted|permitted|local)
      forwarding (to \\S{1,20} domains )?(is )?(denied|not allowed)|kein relay*
      relais (interdit|refuse)|domain (is )?not (handled|served|accepted) here|third.party relay
      not accepting (mail|e-?mail|messages) for (this |that |the )?domain|relaying mail to
      not local host|(unauthorized|unauthorised) relay|specified domain is not allowed
      (mail|e-?mail) to foreign|foreign domain|local user only|^or (is )?not local
    `),
    not: phrases(`
      for (that|this) (user|mailbox|recipient)|which is an open relay|insecure mail relay|openrelay|smtp relay limit
      relay limit
    `),
    means: 'relay_denied',
  },
];

/** Trouble of the server itself: it passes. */
export const TEMPORARY_RULES: readonly Rule[] = [
  {
    when: phrases(`
      {mailbox} ... {temporary}
      (user|account|address|@to|@addr) ... (temporar*|busy|locked|try again|try later)
    `),
    code: /^[45]5[0-9]/,
    at: ['rcpt', 'body', 'any'],
    not: phrases(`mail server|system|service|mailbox(es)? server`),
    means: 'temporary_recipient',
  },
  {
    when: phrases(`
      (server|system|service|local|internal|resource*|disk|queue|database|backend|dns|lookup|
        configuration|config|temporary|mailer|policy|filter|scanner|content|unexpected|upstream|
        network|routing|remote) _ (error|failure|failed|problem|unavailable|busy|overload*|down|
        shutting|full|timeout|not available|shortage|low|maintenance|out of|not accepting|
        not active)
      insufficient (system|disk)|out of (memory|disk|resources|space)|no space
      too (busy|much load)|load (average|too high)|overload*|shutting down|maintenance
      internal error|error in processing|unable to process
      not accepting (connections|mail|messages)|unknown error|blame it on|{temporary}
      (?<!mailbox )(?<!mailbox is )(?<!recipient )unavailable|service not (available|active)
      closing (transmission|connection)|unable to read controls|no route to host
      (can't|cannot|could not|unable to|failed to) (be )?(queue*|store*|save*|spool*)|unqueuable
      can't create _ output|cannot create|cannot accept
    `),
    means: 'temporary_local',
  },
];
