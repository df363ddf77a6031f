import { phrases } from './phrases.ts';
import type { Rule } from './rule.ts';

/** Log-in: at AUTH, or where it is missing. */
export const LOGIN_RULES: readonly Rule[] = [
  {
    when: phrases(`
      too many (bad|failed|invalid) (authentication|auth|log ?ins?)
      (fail*|unable|not able|tried) to (authenticate|log ?in|sign in) (\\S{1,20} ){0,2}too (many|often)
    `),
    code: /^535/,
    means: 'auth_failed',
  },
  {
    when: phrases(`maximum credits exceeded|(insufficient|no) credits?`),
    means: 'plan_used_up',
  },
  {
    when: phrases(`
      too (many|much) _ _ (log ?ins?|sign ?ins?|auth)( attempts)?
      too (many|much) (authentication|login|auth) attempts|too much fail authentication
      too many concurrent log ?ins?
      (authenticat(e|es|ed|ing)|log(s|ged|ging)? ?(in|on)|sign(s|ed|ing)? in) (from _ _ )?too (many times|often|
        frequently|fast|quickly)
      too (frequent|many) (log ?(ins?|ons?)|authentications|sign ?ins)
      (login|auth*) (rate|frequency|attempts) ... {reached}
    `),
    means: 'login_limit',
  },
  {
    when: phrases(`too many (authentication|auth|login) (errors|failures)`),
    means: 'auth_failed',
  },
  // Waiting does not help, whatever the code and the words before it say.
  {
    when: phrases(`
      (account|mailbox|user|customer|tenant|subscription) ... ({stopped}|terminated|deactivated|expired)
      {stopped} (account|user|customer|tenant)
    `),
    not: phrases(`
      temporar* _ {stopped}|{stopped} temporar*|try|retry|again|until|for \\d+|too many
      servers?|service|backend|database|ldap|directory|session*|connection*|ips?|@ip|hosts?|client*|smtp access
      auth* (is |was )?(disabled|switched off|turned off|blocked)|(smtp|basic|plain) auth*|mechanism*
      password*|credentials?|tokens?|certificate*
    `),
    at: ['auth'],
    means: 'account_suspended',
  },
  {
    when: phrases(`
      temporar* _ _ (auth*|login)|(authenticat*|auth|login) _ _ temporar*
      temporary (authentication|system|server|lookup) (failure|problem|error)
      auth* (server|service|system|backend|daemon) ... (unavailable|down|not available|failure|
        error|timed? ?out)
      cannot authenticate (now|at this time|due)|unable to authenticate at (this time|present)
      cannot process login|^auth(entication)? error$
      (auth|authentication|login) ... try (again )?later|auth* _ _ internal
    `),
    not: phrases(`
      (account|user|mailbox) (is |was |has been |temporar* )?locked|locked (account|user|out)|too many
    `),
    means: 'temporary_local',
  },
  {
    when: phrases(`
      (account|mailbox|user|domain|access|server) ... (suspended|disabled|locked|blocked|
        de-?activated|inactive|closed|terminated|banned|expired|not active|unpaid|over)
      (suspended|disabled|locked|blocked|de-?activated|inactive) (account|user)
      has been (suspended|disabled|locked|blocked)|no longer authori[sz]ed
    `),
    at: ['auth'],
    not: phrases(`
      clientauthentication|basic auth*|smtp auth*|smtp access|password|credentials|connection closed|tokens?
    `),
    means: 'account_suspended',
  },
  {
    when: phrases(`
      (smtpclientauthentication|basic auth*|smtp auth*|plain auth*|legacy auth*|auth|
        authentication|smtp( access)?) (is |has been |was )?(disabled|not (allowed|enabled|
        available|supported|permitted|offered)|switched off|turned off)
      auth* _ _ _ not advertised|with 2fa enabled|does not have access rights
      (mechanism|auth* (type|method|mechanism|mode)) ... (not (supported|allowed|available)|
        too weak|unsupported|unrecogni[sz]ed|unsuported|prohibited|forbidden|disabled)
      (unsupported|unrecogni[sz]ed|unknown|invalid) (auth*|sasl) (type|method|mechanism)
      (xoauth|cram|plain|login) is no longer supported|smtp access (is )?(disabled|blocked|not)
    `),
    not: phrases(`spf|dkim|dmarc`),
    means: 'auth_required',
  },
  {
    when: phrases(`
      auth(entication)? _ _ _ (failed|failure|unsuccessful|invalid|incorrect|rejected|error|
        denied|refused|not accepted|wrong|mismatch|aborted|fail|succeeded|unsucessful)
      (failed|incorrect|invalid|wrong|bad|unable|could not|cannot|
        no valid) _ (to )?(authenticat*|auth|credentials?|passwords?|log ?in|username|
        client token)
      (username|user name|userid|login|password|credentials?) _ _ _ (not accepted|incorrect|
        invalid|wrong|rejected|not recogni[sz]ed|mismatch|denied|failed|expired|not correct)
      log ?in (failed|fail|incorrect|denied|failure|unsuccessful)
      no authentication type succeeded|log in (with|via|through) your web browser
      web login required|(application|app) specific password|app(lication)? password|bad token
      tokens? (of (the|this) user )?(is |has |was )?(expired|revoked|invalid)
      authorization code|authentifizierung fehlgeschlagen|anmeldung fehlgeschlagen
      falsches passwort|identifiants|mot de passe|code d.authentification|contrase.a
      autenticaci.n fallida|falha na autentica..o|autenticazione fallita|credenziali
      uwierzytelnianie nie
    `),
    not: phrases(`
      spf|dkim|dmarc|sender policy|domainkeys|sender is unauthenticated
      unauthenticated (e-?mail|mail|message)|reverse dns|callout|verif*|authentication checks?
      your ip|relay*|(message|mail|e-?mail) (failed|fails|failing|(did|does)(n't| not) pass) _ auth*
    `),
    means: 'auth_failed',
  },
  {
    when: phrases(`excessive authentication failures|brute force`),
    means: 'relay_reputation',
  },
  {
    when: phrases(`
      please (turn on|enable|switch on|use|check) _ _ (smtp )?auth(entication|enticate)?
      relay* ~ (authenticat*|log ?in|auth|anmeld*|must have an account)
      (authentication|authenticat*) ... non local|turned on in your e-?mail client
      don't authenticate or the domain
    `),
    not: phrases(`spf|dkim|dmarc`),
    means: 'relay_denied',
  },
  {
    when: phrases(`
      authenticat(ion|ed?) (is )?({needed}|first|requise)
      (requires?|need|needs|must|please|without|first|require) _ _ _ (auth|authenticat*|login|
        log in)
      not authori[sz]ed to send mail, authentication|authentification (requise|invalide)
      not (been )?authenticated|needs? to be (logged|signed) in|(?<!has )(?<!have )not logged in|login required
      (authenticated|logged ?in|signed in) (smtp )?(connections?|sessions?|clients?|users?|submissions?|access) only
      (accept*|allow*|for|takes?|serv*) only (authenticated|logged ?in) (connections?|sessions?|clients?|users?)
      only (accept*|allow*|takes?|serv*|for) (authenticated|logged ?in) (connections?|sessions?|clients?|users?)
      only authenticated (connections?|sessions?|clients?|submissions?)
      unauthenticated (access|connections?|clients?|users?|senders?) ... (not|denied|refused)
      client was not authenticated|only authenticated users|anonymous (mail|users?|access|smtp)
      auth (is )?required|anmeldung erforderlich|requiere autenticaci.n
      autentica..o (requerida|necess.ria)|autenticazione richiesta|pop before smtp
      (only|just) (for|serves?|sends?|accepts?|relays?) _ _ (users?|clients?|customers?) (that|who|which) (identif*|
        authenticat*|log* in)
      (only|just) (allowed|permitted|possible|accepted|available) (with|after) (auth*|log ?in|sign)
      (check|receive|collect|fetch|read|download|retrieve) (your )?(new )?mail (first|before|prior)
      must (have )?(been )?(checked|check) _ mail
      (need|have|must|please|required) to (sign|log) in|anonymous senders?|melden sie sich
      debe autenticarse|(and )?auth(enticate)? first|must be authori[sz]ed to send
      insufficient authori[sz]ation|issue an auth command
    `),
    not: phrases(`
      spf|dkim|dmarc|sender policy|sender address rejected|sender is unauthenticated
      gmail requires|yahoo requires|senders? (must|need|has|have|to)|group|mailing list
      unauthenticated (e-?mail|mail|message)|verif*|message must
      (for|by) (mailbox|organi[sz]ation|public folder)|must (match|belong)
      (@to|recipient|mailbox|address) (only )?(accept*|takes?|receives?)
    `),
    means: 'auth_required',
  },
  {
    when: phrases(`
      unauthori[sz]ed ip|not authori[sz]ed to (perform|send mail)
      (that|this|your|the) ip( address)? _ (is )?not (allowed|authori[sz]ed|permitted) to (send|
        relay|use)
      ip( address)? _ _ not _ _ (allow|white) ?list*
      (ip|ips|address) not (allowed|authori[sz]ed|registered) (for|on) _ _ (account|user|smtp)
    `),
    not: phrases(`directly to|spf|per its|envelope|from|recipient`),
    means: 'auth_required',
  },
];
