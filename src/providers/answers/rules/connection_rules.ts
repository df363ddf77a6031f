import { phrases } from './phrases.ts';
import type { Rule } from './rule.ts';

/** Limits of one connection: a new one is served at once. */
const SESSION_RULES: readonly Rule[] = [
  {
    when: phrases(`
      (per|in|on|for|over|through|during|this|single|one|same|each|within) (this |the |a |an |one |single |
        smtp |same |each |current |your ){0,3}{session} ~ (too (many|much)|maximum|max|limits?|exceed*|
        no more|reached|only|more than)
      (messages?|mails?|e-?mails?|recipients?) (per|in|on|for) (this |the |a |one |single |smtp |
        same |each |current ){0,3}{session}
      no more (mail|messages|e-?mails?) (on|in|over) (this|one) {session}
      open a new (session|connection)|(enough|limit) ... on (this|one) {session}
      session (exceeded|open for too long)|session (\\S{1,20} ){0,2}too long|lost (the )?input channel
    `),
    not: phrases(`concurrent|simultaneous|parallel`),
    means: 'connection_limit',
  },
  {
    when: phrases(`
      more (open )?{session} (open |at once )?than
      too many _ _ {session}|(no more than|only|up to|at most) \\d+ _ {session}
      (concurrent|simultaneous|parallel|open|number of|maximum|max|concurrency|
        max.) _ _ {session}
      {session} (rate |frequency )?(limit*|count|concurrency|frequency|quota|number)
      {session} (rate |frequency )?(limit*|frequency limited|rate)
      {session} _ _ too (often|many|frequent*)|too (frequent|many|rapid) connect(s|ions?)?
      connect(ing|s|ed)? _ _ too (often|frequently|fast|much|quickly)|trop de connexions
      zu viele (parallele |gleichzeitige )?verbindungen|demasiadas conexiones|troppe connessioni
      muitas conex.es|zbyt wiele polaczen|too many parallel|concurrency limit
    `),
    not: phrases(`thread limit`),
    means: 'connection_limit',
  },
  {
    when: phrases(`
      too many _ _ (errors|rsets?|nonmail|noops?|syntax|(bad |unrecogni[sz]ed |unknown |invalid |
        smtp |protocol |unauthenticated |erroneous )?commands)
      too (many|much) (smtp |protocol )?(errors|failures?|mistakes) (in|on|during) _ _ {session}
      error (limit|rate) _ (exceeded|too high)|allowable connection time
      excessive amounts? of data
    `),
    not: phrases(`authenticat* errors|auth (errors|failures|attempts)|login`),
    means: 'connection_limit',
  },
  {
    when: phrases(`
      (seconds|minutes) without (data|command)|idle for|idle (for )?too long|idle time*
      inactivity timeout|session (has )?(expired|timed? ?out)
      connection (has )?(expired|idle|timed? out)
      (timeout|timed out) (waiting|while|exceeded|closing)
      ^(\\S{1,40} )?(error: )?(connection |session |command |read |data |client |smtp )?(timeout|
        timed out)
      (command|session|idle|inactivity) (timeout|timed out)|timeout - closing|timeout exceeded|time ?out .{0,20}closing
    `),
    not: phrases(`
      plugin|hook|spamd|clamd|clamav|rspamd|amavis*|spamassassin|dspam|scan*|dns|lookup|verif*|recipient*|callout
      mailbox|conversation with|connect* (to|with)
      upstream|backend|database|milter|policy|queue|filter|log ?in|submission|delivery
    `),
    means: 'connection_limit',
  },
];

/** What a server cannot make sense of: the order or the form of commands. */
const PROTOCOL_RULES: readonly Rule[] = [
  {
    when: phrases(`
      parameter|(mail from|rcpt to|mail|rcpt) command|requested (hold|release) time
      sasl response|argument|auth= options
    `),
    code: /^50[0124] 5\.5\./,
    means: 'protocol',
  },
  { when: /\(ehlo\)/, at: ['ehlo'], code: /^421/, means: 'helo_refused' },
  {
    when: phrases(`
      (too soon|before (its|my|your|the) (turn|greeting|banner)|pipelin*|
        synchroni[sz]ation error|data before greeting|spoke too|protocol synchroni[sz]ation)
    `),
    means: 'protocol',
  },
  {
    when: phrases(`
      transaction (is )?(already )?in progress|already have (mail|rcpt)
      no (ehlo/helo|ehlo|helo) (yet|given)|must have (sender|recipient)
      missing (mail from|rcpt to)$|issue a reset
      sender (has )?(already|previously) (been )?(specified|given|set)|nested mail
      already (authenticated|speaking tls|in tls|secured|identified|encrypted|(signed|logged) in)
      (tls|session) (is )?already|(tls|starttls|auth|authenticate) (again|twice)
      not allowed at this (point|time|stage)|(bad|improper|invalid|wrong) (command )?sequence
      sequence (of commands|error)|out of (sequence|order)
      need (a )?(valid )?(mail|rcpt|mail from|recipient|sender|rcpt to)
      (mail( from)?|rcpt( to)?|helo|ehlo|hello|ehlo/helo|helo/ehlo) (command )?(first|required|
        must precede)
      (rcpt|recipient|mail) (command )?(needed|must precede|before data)
      no (valid )?(mail|sender) (transaction|command|given|specified)
      (say|send) (helo|ehlo|hello)|say (mail|rcpt)|polite people say
      without (a )?(mail|rcpt|helo|ehlo)|no recipients? (specified|given)|valid rcpt
    `),
    not: phrases(`need _ verif*|too many|verification|(helo|ehlo) (should|has to|must) be`),
    means: 'protocol_state',
  },
  {
    when: phrases(`
      (helo|ehlo|helo/ehlo|ehlo/helo|lhlo|helohost) ~ (invalid|reject*|refused|denied|not|bad|
        forged|fqdn|fully qualified|syntactically|mismatch|required|needs?|impersonat*|unknown|
        error|empty|must|does(n't| not)|unresolv*|badhelo|missing)
      invalid (helo|ehlo)|(helo|ehlo) (should|has to|must) be
    `),
    at: ['connect', 'ehlo', 'mail', 'rcpt', 'data', 'any'],
    not: phrases(`and auth|auth first|spamhaus|listed|unsolicited|spam`),
    means: 'protocol',
  },
  {
    when: phrases(`
      (command )?line (is )?too long|command (is )?too long
      command (is )?(unrecogni[sz]ed|unknown|not (recogni[sz]ed|implemented|understood|
        supported))
      command parameter (not|is)
      (unrecogni[sz]ed|unknown|unimplemented|invalid|unsupported|bad) (smtp )?command
      command rejected: unknown|smtp protocol (error|violation)
      syntax error( in parameters| - |$)|(invalid|bad|missing) (argument|parameter)s?
      unsupported (option|parameter|extension)
      (unable to|cannot|could not|failed to) parse _ _ (size|body|parameter*|argument*|command)
      (option|parameter|argument)s? not (supported|recogni[sz]ed|implemented)
    `),
    not: phrases(`
      mailbox|recipient*|headers?|sender|e-?mail address|parsing|addr*|mime|auth command first
    `),
    at: ['connect', 'ehlo', 'auth', 'any', 'mail', 'rcpt', 'data'],
    means: 'protocol',
  },
  {
    when: /\((?:ehlo|helo)\)/,
    at: ['ehlo'],
    means: 'protocol',
    at4xx: 'helo_refused',
  },
];

/** About the connection or its protocol, whatever command is answered. */
export const CONNECTION_RULES: readonly Rule[] = [
  {
    when: phrases(`
      (tls|starttls) (is )?(currently |temporarily )?(not available|unavailable)
      tls not available due to|tls (handshake|negotiation) failed
    `),
    means: 'temporary_local',
  },
  {
    when: phrases(`
      (tls|ssl|starttls|encrypted)( session| connection| channel)? (has to|must|needs to|should) be
      (wants?|takes?|expects?|accepts?) _ _ (only )?(over|via|through) (an? )?(tls|ssl|encrypted|secure)
      issue (a )?starttls|starttls (command )?(is )?(required|needed|first|necessary|mandatory|must be)
      encrypt first|only encrypted (sessions|connections|clients)|(clients?|with|over|via|use) _ (tls|ssl) only
      (tls|ssl|encryption|encrypted|secure (connection|channel)|
        tls encrypted session) _ _ _ (is |are )?{needed}
      (requires?|required|need|needs|must|use) _ _ _ (tls|starttls|ssl|encrypt*|
        secure connection)
      only (over|via|with|on|accept*) _ _ (tls|ssl|secure|encrypted)
      plain(text)? connections? (not|refused)|verschl.sselung*|senders to use tls
      high strength ciphers?|(tls|ssl) (version|cipher*) ... (not|too|lower|weak*|minimum)
      (ssl|tls) (client )?certificate (error|required|missing|expired|not valid)
      chiffrement|connessione sicura
    `),
    not: phrases(`attachment*|encrypted (file|message(?! transmission))`),
    means: 'tls_required',
  },
  ...SESSION_RULES,
  {
    when: phrases(`(no )?(smtp )?service (is )?not available|no smtp service( here)?`),
    not: phrases(`
      ptr|reverse|dns|blocked|listed|host|@ip|try again|closing transmission|temporar*|bad
    `),
    at: ['connect'],
    code: /^5/,
    means: 'relay_policy',
  },
  ...PROTOCOL_RULES,
];
