import { COUNT_RULES } from './count_rules.ts';
import { phrases } from './phrases.ts';
import type { Rule } from './rule.ts';
import { SCOPE_RULES } from './scope_rules.ts';

const BY_CLASS = { means: 'relay_reputation', at4xx: 'relay_reputation_later' } as const;

/** Waiting is asked for by design, whatever is said of the policy behind it. */
const GREYLIST_RULES: readonly Rule[] = [
  {
    when: phrases(`
      gr[ae]y ?list(ed|ing)|(intentional|intended) policy rejection
      (mail|message|e-?mail|e-?mailing|mailing) is (now |still )?being (verified|checked|validated|examined|screened)
    `),
    not: phrases(`
      not greylist*|greylist* _ (error|fail*|timeout|unavailable|database|temporary failure)|rbl
    `),
    code: /^4/,
    means: 'greylisted_recipient',
  },
  // What the server itself needs to answer is down.
  {
    when: phrases(`
      (rate ?limit*|quota|policy|greylist*|filter*|reputation) (service |server |check |checking |lookup )?(is |
        are )?(currently |
        temporarily )?(unavailable|not available|down|not responding|offline)
    `),
    code: /^4/,
    means: 'temporary_local',
  },
];

/** The account may not send until a person acts. */
const SUSPENSION_RULES: readonly Rule[] = [
  {
    when: phrases(`
      (sending|sends|mail|mails|e-?mail) from (this|the) (mailbox|address|sender|user|
        e-?mail address) ... {stopped}
    `),
    not: phrases(`ip|host|server|listed`),
    means: 'sender_suspended',
  },
  {
    when: phrases(`
      until (the|your|this) account (is |has been |gets )?(approved|verified|activated|reviewed|confirmed)
    `),
    not: phrases(`{mailbox_only}`),
    means: 'account_suspended',
  },
  {
    when: phrases(`(blacklisted|banned|suspended) (smtp |sasl |mail )?user`),
    means: 'account_suspended',
  },
  {
    when: phrases(`
      {outgoing} ... {stopped}|{stopped} _ _ {outgoing}
      (account|mailbox|domain|login) ... (hacked|compromised|abused|hijacked)
      {stopped} ... (please )?(change|reset|renew) (the |your |its )?password
      (account|mailbox|login|user) _ _ {stopped} (because|since|after|as|for) _ _ (sent|sending|spam*|bulk)
      (account|mailbox|user) must be (activated|verified|confirmed|reactivated|
        approved) ... (send|sending)
      (account|billing|payment|identity) ... before you (can|may) send
      (service|sending|access) ... (invoice|bill|payment) (is |was )?(unpaid|overdue|open)
      (trial|subscription|contract) ... sending ... {stopped}
      (billing|payment) (problem|issue|failure) ... sending|sending (is )?(not|no longer) (possible|available|
        enabled)
      account (isn't|is not|may not|cannot|can't) _ (allowed|permitted)? ?(to )?send
      due to account inactivity|not allowed to send: ... (inactivity|inactive|disabled|suspended)
      (?<!recipient )account (is |has been |was )?(suspended|disabled|blocked) ... (billing|payment|suspicious)
    `),
    not: phrases(`
      ip|ips|@ip|hosts?|servers?|network|{mailbox_only}|paused until|limit*|rates? (limit*|exceed*|control)|incoming
      client|attachment*|executable*|files?
      auth(entication)? (is )?disabled|smtp (auth|access)|connection*|mta|listed|policy|policies
      messages? (was |is |has been )?(blocked|rejected)
    `),
    means: 'account_suspended',
  },
];

/** The one who sends has to log in, by a browser or by SMTP AUTH. */
const SIGN_IN_RULES: readonly Rule[] = [
  {
    when: phrases(`(auth|authentication|log ?in) (is )?required for _ _ _ sender`),
    means: 'sender_login',
  },
  {
    when: phrases(`
      app(lication)? _ password (is )?required|(log|sign) in (with|via|through) your web browser
    `),
    // A mechanism that is not allowed here (RFC 4954 §6), unlike a wrong password.
    code: /^534/,
    means: 'auth_required',
  },
  // A password of the account itself is not taken there, right or wrong.
  {
    when: phrases(`
      (two|2|multi)( factor| step)( auth*| verification)? (is |has been |was )?(set up|enabled|on|active|turned on|
        switched on|required|in use)
      (not|n't|never) (allow|permit)[a-z]{0,3} (smtp|log ?ins?|auth*|access) _ from (this|your|that) (ip|
        address|country|location)
      please (open|enable|turn on|activate|switch on) _ (smtp|pop3?|imap|smtp/imap|imap/smtp|pop3/smtp) (flag|service|
        access|protocol|option)
      (api ?key|key|token|login|user|account) (has no|lacks|without) (the )?(permission|rights?|
        access) (to|for) (send*|smtp)
      that smtp (user ?name|user|login) is not (allowed|permitted) to send
    `),
    not: phrases(`recipient*|spf|dmarc`),
    means: 'auth_required',
  },
  {
    when: phrases(`
      (sign|log) ?in (to|at|on|into|with|via|through) (your|the|a|our|its) _ (account|mailbox|web*|
        browser|portal)
      (not|never|n't) logged on|log ?in (is )?(needed|required|necessary)
      (sign|log) in to (webmail|unlock|continue|verify)|(sign|log) in (before|first)
      (before|first) ... (sign|log) in
      not subscribed to|needs a subscription
      (not|n't) (be )?(allowed|permitted|authori[sz]ed) to (authenticate|log ?in|sign in) from
    `),
    not: phrases(`too many|has not|hasn't|never logged|last log* in`),
    means: 'auth_required',
  },
];

/** A machine with a bad name, whatever is refused to it. */
const MACHINE_RULES: readonly Rule[] = [
  {
    when: phrases(`
      {named_list} ~ (block*|listed|hit|found|denied|reject*|refused|appears?|on|in|by|delist)
      (on|in) (the |our |an? )?{named_list}|{named_list} _ (list|listing|listed)
      (ip|ips|ip address|host|server) _ (black|block|deny)list*
      (ip|host|server|client|network|mta|you|you are|relay) ... (identified|known|listed|detected|
        marked|classified|flagged) as _ (spam*|open (relay|proxy)|zombie|bot)
      (too much|a lot of|lots of|so much|excessive) (spam|junk|unwanted mail) from
      (caused|generat*|received|source of|too many|a lot of) _ _ _ complaints ... (network|ip|
        server|host|members|users|customers)
      you (are|were|have been) (violating|in violation of) _ _ polic(y|ies)
      early ?talk(er|ing)|misbehav* (smtp )?(session|client|host)|from (an )?unknown tld
      (poor|bad|low) (score|rating)|spam origin|helo is (adsl|dsl|dial*|dynamic|dhcp|pool)
      ips with (valid|proper) (reverse|ptr|dns)
      (poor|bad|no good|no|low|negative) (sending )?(history|record|standing) (with|here|at|for)
      from (an? |the )?open (relay|proxy)|zombie|botnet|infected (host|computer|machine)
      (home|dial ?-?up|dynamic|residential|consumer) (connection|line|user|network|address)
      your (host|server|machine|ip|relay|mta) _ (has been|was|is) (denied|banned|barred)
      (mail|e-?mail|messages|send|connect|connections?|traffic) from (that|this|your) (country|region|network|continent)
      (not|n't|never|no longer) (accept*|take|allow) (any |new |smtp )?connections? from _ (ip|ips|@ip|host|@host|
        address|network)
      (ip|ips|@ip|network|mta|host|server) (\\S{1,20} ){0,3}(poor|bad|low|negative) reputation
      (ip|@ip|ip address|host|server) (@ip )?(is|are|was) (on|in) (the|a|our) list of(?! (allow|permit|trust|accept)\\S)
      (@ip|@host|(ip|host|server)( @ip| @host)?)[^a-z]{1,3}(sent|sends|is sending) (too much|too many|a lot of|lots of|
        so much) _ {spam}
    `),
    not: phrases(`
      url|urls|links?|body|content|contain*|intent|attachment*|not (an? )?open (relay|proxy)|returned:? _ (message|mail)
      (user|recipient|addressee|mailbox)('s)? (own )?(deny|block|black|reject|ignore) ?list
      query (refused|failed|error)|lookup (failed|error)|open resolver|timeout
      (sender|from) (address|domain)|mail from domain|your (domain|e-?mail address)
      (@from|@fromdomain) (is|was|are)|domain block ?list
      address match*|suppress*|white ?list*|domain in (the )?(message|mail)
      senders? (is|was|has been)|relay(ing)? (mail )?(from|for|to)
    `),
    ...BY_CLASS,
  },
];

/** A name that the machine lacks: time alone does not help, in a 4xx either. */
const NAMELESS_RULES: readonly Rule[] = [
  {
    when: phrases(`
      (no|without|missing|lacks?|have an?) (valid )?(dns|ptr|reverse) (entry|entries|record*) (for|of) (your|the|
        this) (mailer|mail ?server|
        host|server|ip|machine|system)
      (must|should|please|have to|need to) register (your|the|this) (ip|mail ?server|server)
      (your|client|sending|connecting) (mail )?(host|host ?name|server|server name) (must|has to|needs to|
        should) (be )?resolv*
    `),
    not: phrases(`{sender}|helo|ehlo`),
    means: 'relay_reputation',
  },
];

/** What a relay demands of the From field. */
const FROM_RULES: readonly Rule[] = [
  {
    when: phrases(`
      from:? (header |field |address |domain |line ){0,2}(of (this|the|your) (message|
        e-?mail) )?(must|has to|needs to|should|may only) [a-z]{2,12}
      (domain|address) (in|of) (the )?from:? (header|field|line)? _ (must|has to|needs to|is not)
    `),
    not: phrases(
      `
        api key|valid|missing|contain|have|rfc*|(exactly )?one (address|mailbox)|single|present|syntax
        well ?-?formed|fully|resolv*|dns|exist|must not|empty|blank
      `,
    ),
    means: 'sender_not_allowed',
  },
  {
    when: phrases(`
      you (may|can|must) only (use|send (from|as|with)) _ _ (address*|domains?|senders?|from)
      (isn't|is not|not) an? (\\S{1,20} ){0,2}sender signature
    `),
    code: /^5/,
    means: 'sender_not_allowed',
  },
  {
    when: phrases(`
      {sender} ... (no|not|none|without|neither) _ _ (mail exchanger*|mx)
      (no|none|not|neither) (of )?your (mail exchangers?|mx)
      (your|sender's) (mail exchangers?|mx) ... (routable|not found|(does|do)(n't| not))
    `),
    not: phrases(`recipient|@to|@todomain|destination|ptr`),
    means: 'sender_dns',
  },
  // A demand: time alone does not meet it, in a 4xx either.
  {
    when: phrases(`
      ((mail|header|envelope) )?(from|sender|sender's|return path):? ?(e-?mail |mail )?(address )?(domain|
        domain name|address|@fromdomain|@host)? _ (must|has to|have to|needs? to|should) (be )?(resolv*|found in dns)
      domain (name )?(of|in) (the |your )?(sender|from|from:|envelope|return path)( address| field| header)? (must|
        has to|needs to|should) (be )?(resolv*|found in dns)
      your domain (name )?(must|has to|needs to|should) (be )?(resolv*|found in dns)
    `),
    not: phrases(`recipient*|rcpt|@to|@todomain|destination|ptr|reverse|helo|ehlo|ip|host ?name`),
    means: 'sender_dns',
  },
];

/**
 * Words that decide beside a phrase of habit, a code of another cause or another language: `Relay
 * denied: exceeded the max emails per hour`. Read first. None of them ends a send.
 */
export const LEADING_RULES: readonly Rule[] = [
  ...GREYLIST_RULES,
  ...SCOPE_RULES,
  ...COUNT_RULES,
  ...SUSPENSION_RULES,
  ...SIGN_IN_RULES,
  ...MACHINE_RULES,
  ...NAMELESS_RULES,
  ...FROM_RULES,
];
