import { phrases } from './phrases.ts';
import type { Rule } from './rule.ts';

/** A quantity that is used up, of any subject. */
const OVER_LIMIT = `
  {quantity} ~ {reached}|rate ?limit*|ratelimit|throttl*|frequency limited|frequency limit
  sending limits?|rate (control|overlimit)|too much mail|message threshold
  too many _ _ (messages|e-?mails?|mails|sends|deliveries|requests|letters|attempts|
    recipients this|recipients _ (hour|day|minute))
  (sending|sent|send|deliver*|received) _ _ _ too (fast|many|quickly|frequently|much)
  please try again slower|slow(ing)? down|unusual (sending|amount|volume|rate|number)
  zu viele (nachrichten|mails|e-?mails)|trop d(e|') (messages?|mails?|e-?mails?|courriels)
  demasiados (mensajes|correos|e-?mails)|troppi (messaggi|e-?mail)
  muit[oa]s (mensagens|e-?mails)
  (sending|submission|daily|hourly|monthly|message|send|email) quota|quota ... {reached}
  daily allowance|excessive (volume|rate|number) of|due to excessive volume|versandlimit
  you have sent over|enabled in \\d+ seconds|enhance your calm
`;

/** A size or a count that is not a rate. */
const OTHER_COUNTS = phrases(`
  size|too (large|big)|hops?|recipients per message|lines?|header*|attachment*|overquota|storage
  disk|(kilo|mega|giga)?bytes|[kmg]i?b|number of recipients(?! (per|a|in))
  {spam} _ _ (threshold|score|level|points|rating)|length|octets|mail ?bomb*
`);

/**
 * A policy server counts what an account sends, and Postfix puts its words behind "Recipient address rejected:". A
 * full mailbox has another code (X.2.2, RFC 3463).
 */
export const COUNTED_RULES: readonly Rule[] = [
  {
    when: phrases(`
      policy rejection ... {quantity} ... {reached}|message (count|cumulative size) quota
    `),
    not: phrases(`mailbox|recipient's`),
    means: 'account_limit',
  },
  {
    when: phrases(`quota (exceeded|reached)`),
    not: phrases(`{mailbox}|users?|domains?|accounts?|storage|disk|full`),
    code: /^\d{3} [45]\.7\./,
    means: 'account_limit',
  },
];

/** About the account that sends: limits, suspensions, sandboxes. */
export const ACCOUNT_RULES: readonly Rule[] = [
  {
    when: phrases(`
      sending (e-?mails? |mail )?(is |has been |was )?paused|paused sending
    `),
    means: 'account_suspended',
  },
  {
    when: phrases(`
      unusual (amount|rate|volume|number) of ... (originating|coming|sent) from your (address|
        account|domain|user|mailbox)
    `),
    means: 'account_paused',
  },
  {
    when: phrases(`
      (insufficient|not enough|no|out of|zero|negative|exhausted) _ (credits?|balance|funds)
      maximum credits exceeded|not have (sufficient|enough|any) (credits?|balance|funds)
      credits? ... (exhausted|exceeded|used|run out|expired|insufficient)|quota used up ... buy
      buy more
      (payment|billing|invoice|subscription|trial|licen[cs]e|plan) ... (required|overdue|expired|
        past due|unpaid|ended|cancel*|failed|not valid)
      (upgrade|renew) _ _ (plan|account|subscription)|ran out of (credit*|emails)
      free (plan|tier|trial) (limit|has)
    `),
    not: phrases(`
      recipient|mailbox|plan ... (per|a) (hour|day)|per second|too many|(user|customer)'s
    `),
    means: 'plan_used_up',
  },
  {
    when: phrases(`sender (address )?(frequency|rate) ... limit*|sender frequency`),
    means: 'sender_limit',
  },
  {
    when: phrases(`
      (outgoing|outbound) (sending|e-?mail|mail|messages?|smtp) _ _ (disabled|blocked|suspended|
        stopped|restricted|locked)
    `),
    means: 'account_suspended',
  },
  {
    when: phrases(`
      (outgoing|outbound|sending|submission) (e-?mail |mail |messages? )?{quantity} ... {reached}
    `),
    not: phrases(`ip|host|per message`),
    means: 'account_limit',
  },
  { when: phrases(`account (is )?pending`), means: 'account_suspended' },
  { when: phrases(`not allowed to send: ... limit exceeded`), means: 'account_limit' },
  { when: phrases(`too (much mail|many recipients) from (@ip|@host)`), means: 'relay_limit' },
  { when: phrases(OVER_LIMIT), not: OTHER_COUNTS, at: ['connect', 'ehlo'], means: 'relay_limit' },
  // No recipient has been named yet.
  {
    when: phrases(OVER_LIMIT),
    not: OTHER_COUNTS,
    at: ['auth', 'mail'],
    means: {
      recipient: 'account_limit',
      sender: 'account_limit',
      client: 'relay_limit',
      account: 'account_limit',
      user: 'account_limit',
      none: 'account_limit',
    },
  },
  {
    when: phrases(OVER_LIMIT),
    not: OTHER_COUNTS,
    means: {
      recipient: 'temporary_recipient',
      sender: 'account_limit',
      client: 'relay_limit',
      account: 'account_limit',
      user: 'account_limit',
      none: 'account_limit',
    },
  },
  {
    when: phrases(`
      (tenant|organi[sz]ation) ... (threshold|exceeded|blocked|restricted|suspended|banned)
      (your|sending|sender's|smtp|the) _ _ (account|domain|user|tenant|organi[sz]ation|access|
        plan|subscription|profile|project|workspace|team|server access|
        e-?mail service) ... (suspended|disabled|blocked|de-?activated|locked|banned|closed|
        restricted|terminated|on hold|paused|inactive|not active|under review|frozen|compromised|
        deaktiviert|gesperrt)
      (suspended|disabled|blocked|deactivated) your _ account
      sending (e-?mails? |mail )?(is |has been |was )?(paused|disabled|suspended|blocked|stopped|
        forbidden)
      (outgoing|outbound) ... (block*|suspended|locked|disabled|stopped|not allowed|restricted|
        rejected|paused)
      (sender|sending) profile _ _ (investigation|review)|restricted from sending
      activate your _ account
      account ... (not (yet )?(been )?(activated|approved|enabled|active)|pending|under review)
      (bad|banned) (outbound )?sender(?! ip)|restricted (user|entity|entities)
      mail sending denied|account no longer (authori[sz]ed|active|valid)
      disabled by (user|administrator|admin|provider)|outboundspamexception
      account (is )?not authori[sz]ed|account (isn't|is not) allowed to send
      (user|account|domain|sender) _ (is |has been )?(suspended|banned|blocked|restricted|
        disabled) (from|for|due to|because|by)
      (account|profile|ability|access) ... (permanently|temporarily) (restricted|suspended|
        blocked|disabled)
      not allowed to send: please activate
      account (is |has been |was )?(suspended|disabled|blocked|locked|deactivated|paused)
      (dein|ihr) (konto|account|postfach) ... (gesperrt|deaktiviert)
      (su|tu) cuenta ... (suspendida|bloqueada)|votre compte ... (suspendu|bloqu.|d.sactiv.)
      sua conta ... (suspensa|bloqueada)|suo account ... (sospeso|bloccato)
    `),
    not: phrases(`
      recipient*|mailbox|you (tried|are trying)|receiving|incoming|inbound|mail to
      du destinataire|cannot be delivered|this account|user account|discontinued
    `),
    code: /^(?!\d{3} [45]\.(?:1\.[1236]|2\.[0-9]))/,
    means: {
      sender: 'account_suspended',
      client: 'account_suspended',
      account: 'account_suspended',
      user: 'account_suspended',
      none: 'account_suspended',
    },
  },
  {
    when: phrases(`
      (account|user|service|access|subscription|domain|customer|smtp) ... ({disabled}|revoked)
      {disabled} (account|user|customer)
    `),
    not: phrases(`
      {mailbox}|@addr|you (tried|are trying)|receiving|incoming|inbound|ip|host|client|list*
      e-?mail (account|address)|this (account|user)|user (account|suspended)|discontinued
      blocked|service not active
    `),
    code: /^(?!\d{3} [45]\.(?:1\.[1236]|2\.[0-9]))/,
    at: ['connect', 'ehlo', 'mail', 'any'],
    means: 'account_suspended',
  },
  {
    when: phrases(`
      (trial|test|sandbox|free) accounts? can only|sandbox*|(authori[sz]ed|verified) recipients?
      (test|trial|sandbox|demo) (mode|account|domain|key)|only send (testing|test) e-?mails
    `),
    not: phrases(`size`),
    means: 'account_sender',
  },
];
