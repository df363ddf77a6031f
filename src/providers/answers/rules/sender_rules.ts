import { phrases } from './phrases.ts';
import type { Rule } from './rule.ts';
import { SENDER_DNS_RULES } from './sender_dns_rules.ts';

/** Faults of the From field: they are of this message. */
const HEADER_RULES: readonly Rule[] = [
  {
    when: phrases(`
      (multiple|more than one|several|duplicate|two) ... (from|sender):? (address*|header*|
        field*|line)
      messages? with multiple|(multiple|duplicate) (addresses|from|senders?)
      (missing|no|without|lacks?|malformed|empty|having no|blank) _ _ _ from:? (address|header|
        field|line)
      from (header|field) (is )?(missing|invalid|malformed|empty|blank)
      (not|n't) (contains?|have|has|include*|carry) _ (from|date|subject|to|message ?-?id):? (header|field|line)
      from:? (header|field|line) ... (several|not (one|a single|exactly one)|more than one)
      missing a valid address in|purported responsible address|(invalid|bad) from header
      duplicate header
    `),
    not: phrases(`not (authori[sz]ed|allowed|owned|permitted) to|purported`),
    means: 'message_syntax',
  },
];

/** The domain does not prove who sends: SPF, DKIM, DMARC. */
const PROOF_RULES: readonly Rule[] = [
  {
    when: phrases(`
      temporary _ (spf|dkim|dmarc|arc) _ (error|failure)|temporary error ... (spf|dkim|dmarc)
    `),
    code: /^4/,
    means: 'temporary_local',
  },
  {
    when: phrases(`
      spf|dkim|dmarc|sender policy framework|domainkeys|sender id|purported responsible
      arc (failed|validation|seal)|sender is unauthenticated
      (fails?|failed|failing) (to pass )?authentication checks
      (message|mail|e-?mail) (failed|fails|failing|(did|does)(n't| not) pass) _ auth*
      unauthenticated (e-?mail|mail|message) (from|is|was)|required authentication level
      mismatch* client ip|sender's policy|sender policy prohibits|ip for sending mail of domain
      not (permitted|allowed|authori[sz]ed) by _ domain owner|designated sender
      (message|mail|e-?mail) does not have authentication information|multiple authentication checks failed
    `),
    not: phrases(`
      temporar* ... (dns|lookup)|lookup (failure|error)|duplicate header|from this range
      from: header are not|only one recipient
    `),
    means: 'sender_reputation',
  },
];

/** The login may not use this sender, or the provider has not verified it. */
const IDENTITY_RULES: readonly Rule[] = [
  {
    when: phrases(`sender address rejected: not logged in|sender* ... not logged in`),
    means: 'sender_login',
  },
  {
    when: phrases(`
      from/sender name is not valid|(from )?address ... is not a sender signature
      {sender} ~ (conform with|same|one of your|your own|not in (my|our|your) domain*|
        message header from|unconfigured|non local|equal|mismatch*|not match|unvalidated|
        not valid for|not accepted for)
      mail ?from (is )?invalid|(mail|message) from ... (same|match)|unconfigured _ domain
      (must|should) (match|be the same as|be equal to)|not owned by|not (the )?owner of
      does(n't| not) own|does not belong to|not belong
      must (match|belong to) _ authenticated user|sendasdenied|send as denied|send as
      (not|n't) send from (there|this|that|here)|on behalf of|not allowed to send as|permissions? to send as
      (not|n't) _ _ (allowed|authori[sz]ed|permitted|verified) to (send|use|relay) _ _ _ (from|
        as|using)
      (not|n't) (been |yet |currently |a )*verified ... (sender|domain|address|identity|from)
      (e-?mail address|domain|identity|identities|sender|from) _ _ (is |are |has )?(not|n't|
        never)( been| yet)* (verified|confirmed|validated|authenticated|authori[sz]ed|registered|
        activated)
      (domain|sender|from|address|identity) _ _ (yet|still|needs?|has) to be (verified|validated|confirmed)
      (domain|sender|address|@fromdomain|@from) ... (not|n't) (active|set ?up|configured|added|registered|
        part of|associated|listed|attached) (in|with|to|for|on) (your|this|the) (account|user|login)
      (no|not have|without|lacks?) _ (right|authority|permission|entitlement) _ _ (use|
        send) _ _ (sender|from|domain|address)
      (verify|confirm|validate|authenticate|register) (your|the|this) _ (sender|sending|from|e-?mail|
        domain) _ (domain|address|identity)?
      (domain|sender|from|address|identity) _ must be (verified|validated|confirmed)
      (unverified|unauthori[sz]ed|unconfirmed|unregistered|unvalidated) (e-?mail|domain|address|
        sender|identity|from)
      not (a |an )?(verified|confirmed|allowed|authori[sz]ed|registered|valid) (sender|domain|
        from|identity)
      (sender|from) signature* ... (not|unconfirmed)
      (use|using) _ _ (a )?different (sender|from)|not configured _ _ (send|sending|sender)
      (envelope|header)[ -]from ... authori[sz]ed|relaying disallowed as
      absender* ... (nicht|unzul.ssig|nicht erlaubt)|exp.diteur ... (non|pas)|remitente ... no
      remetente ... n.o|mittente ... non
    `),
    not: phrases(`
      blocked using|dnsbl|rbl|blacklist*|block ?list*|allowed senders|banned|reputation|group
      mailing list|directly to|sender denied|member*|relay* (access )?denied|sandbox*
      recipient's list|(for|by) (mailbox|organi[sz]ation|public folder)|restricted to
      from this range|from your (host|ip|server)|relay system|@ip
    `),
    means: 'sender_not_allowed',
  },
  {
    when: phrases(`
      {sender} (does(n't| not)|without) have _ _ (mailbox|account|valid)
      {sender} ~ (not (be )?(allowed|authori[sz]ed|permitted|verified|confirmed|registered)|
        unauthori[sz]ed|unverified|not yours|user unknown|unknown user|undeliverable)
    `),
    not: phrases(`
      blocked|dnsbl|rbl|blacklist*|allowed senders|banned|reputation|group|mailing list
      (only )?(authenticated|internal) senders|by (the )?recipient|restricted|member*
      recipient's|unauthenticated|(for|by) (mailbox|organi[sz]ation|public folder)|sender denied
      null sender|empty sender|listed|from this range
    `),
    means: 'sender_not_allowed',
  },
];

/** The sender's address or domain has a bad name. */
const BLOCKED_RULES: readonly Rule[] = [
  // At MAIL no other mailbox has been named yet.
  {
    when: phrases(`(mailbox|mail box) name ... (not|n't) (be )?(allowed|permitted|accepted)`),
    at: ['mail'],
    code: /^5/,
    means: 'sender_not_allowed',
  },
  {
    when: phrases(`
      banned sender|sender address ... account (is|has been) (disabled|suspended|blocked)
    `),
    means: 'sender_suspended',
  },
  {
    when: phrases(`
      ({sender}|mailfrom domain|sending domain|your domain|your e-?mail address|
        sender domain) ~ ({list}|blocked using|banned|reputation|listed (in|at|on|by)|spammer|
        blocked|spam)
      (mail|message) from @(from|addr) (was |is |has been )?(rejected|refused|denied|blocked)
      sender (is |was |has been )?(address )?(rejected|denied|refused|blocked|banned|
        blacklisted)
      sender address (has been )?(rejected|denied|refused|blocked|blacklisted)
      (poor|bad|low) reputation (of|for) _ _ domain|domain ... (poor|bad|low) reputation
      den(y|ies|ied) the sender|badmailfrom|envelope sender is in my|bogus mail from
      sender is spammer|invalid sender
    `),
    not: phrases(`
      (sender|sending|your|source) (ip|host|server|mta)|ip (address|is|has)|client
      (user|recipient|addressee|mailbox)('s)? (own )?(deny|block|black|reject|ignore) ?list
      contains? (spam|virus*)|by (this|the) (recipient|user)|sender denied|quota|daily|anti ?spoof*
      \\[@?ip|too many|limit*|(recipient|user|addressee) has (banned|blocked|refused|rejected)
    `),
    means: 'sender_reputation',
  },
];

/** A receiver's list of domains that it does not take email from. */
const DOMAIN_RULES: readonly Rule[] = [
  {
    when: phrases(`
      (the|this|your|sender|sending|mail) domain (name )?(@host |@fromdomain )?(is |was |has been )?(now |
        currently )?(banned|
        barred|black*|blocked|block ?listed|listed (in|on|by))
      ^(the )?domain (@host |@fromdomain )?(is |was |has been )?(now |currently )?(banned|barred|black*|blocked)
    `),
    not: phrases(`
      sending|outgoing|outbound|billing|payment|account|recipient*|destination|hour*|day|daily|limit*|for exceed*
    `),
    means: 'sender_reputation',
  },
  {
    when: phrases(
      `((mail from|sender) address ...|your address is) (not|n't) (a )?(liked|trusted|wanted|welcome) (source|sender)?`,
    ),
    means: 'sender_reputation',
  },
  {
    when: phrases(`headers? (from|sender|reply-?to) ~ (black ?listed|banned|blocked)`),
    means: 'sender_reputation',
  },
];

export const SENDER_RULES: readonly Rule[] = [
  ...DOMAIN_RULES,
  // A relay that does not know the domain for which the account sends.
  {
    when: /domain @fromdomain (?:is |was )?(?:not found|unknown|not known)/,
    means: 'sender_not_allowed',
  },
  { when: phrases(`bad sender`), code: /^501/, means: 'sender_syntax' },
  ...HEADER_RULES,
  {
    when: phrases(`
      (bad|invalid|malformed) mail from address
      (bad|invalid|malformed) (sender|from|return path|
        reverse path) (e-?mail )?(address )?syntax
      (sender|reverse path|return path) ... (syntax|malformed|fully ?.?qualified)
      syntax error ... (mail from|sender|reverse path|from:)|need fully ?.?qualified address
      (sender|reverse path|mail ?from) ... (too long|lower than)
      fully qualified e-?mail address required|domain name required for sender
      sender _ must be (an? )?(fqdn|fully|full e-?mail|complete)|sender _ _ not rfc
      sender address ... (contain|without|have|has no) _ domain
    `),
    not: phrases(
      `recipient|rcpt|destination|too many|(dns|name ?server) _ (reply|response|answer|data)`,
    ),
    at: ['mail', 'rcpt', 'any', 'data', 'body'],
    means: 'sender_syntax',
  },
  // No other address has been named yet.
  {
    when: phrases(`
      (bad|invalid|malformed|illegal|improper|wrong|incorrect) (e-?mail |mailbox )?(address|domain)
        (format|syntax|form)
      (bad|invalid|malformed|illegal) (e-?mail|mail) address
      (address|domain|mailbox)( name)? ... (malformed|syntactic*|not (a )?valid|too long|syntax|(bad|invalid) (format|
        form))
      valid (e-?mail )?address (is )?(required|needed|expected)
    `),
    not: phrases(`
      exist*|resolv*|dns|mx|(not|n't) (allowed|authori[sz]ed|permitted|verified|owned)|list*|account|login|size
      syntax: mail
      mail command|command|domain is (not valid|invalid)
    `),
    at: ['mail'],
    code: /^5/,
    means: 'sender_syntax',
  },
  {
    when: phrases(`
      (invalid|bad|malformed|illegal|unknown) _ (sender|address|from)|sender ... invalid
    `),
    code: /\.1\.7$/,
    means: 'sender_syntax',
  },
  ...SENDER_DNS_RULES,
  ...PROOF_RULES,
  ...IDENTITY_RULES,
  ...BLOCKED_RULES,
];
