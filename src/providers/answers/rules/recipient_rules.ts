import { phrases } from './phrases.ts';
import type { Rule } from './rule.ts';

/** The words alone say that it is this mailbox, and that it passes. */
const BUSY_RULES: readonly Rule[] = [
  { when: /^temporary failure$/, code: /^450/, at: ['rcpt'], means: 'temporary_recipient' },
  {
    when: phrases(`
      receiving (mail|messages|e-?mail) (at a|too)|receive too (many|much)|received too (many|much) (e-?mails?|messages)|messages they can receive|to this recipient per|receive limit
      (messages|e-?mails?|mail) (to|for) @(to|addr) ... (deferred|volume|rate|too many|limit*)|@(to|addr) (has |received )?too many|too many (recent )?(messages|recipients) received
      too many _ (messages|e-?mails|mails) (for|to) (this|the|that) (user|recipient|mailbox|address|domain)|recipient* (domain* )?_ (hourly|daily|rate|thread|message) _ (quota|limit*)|recipient thread limit|recipient quota
      recipient has exceeded|(mailbox|recipient|user) _ _ (message )?(rate limit*|throttl*)|organi[sz]ation queue quota
      {mailbox} ... temporar* (locked|disabled|suspended|unavailable|blocked|inactive|rejected|not available)|(user|account|incoming|domain) _ temporar* (locked|disabled|suspended|unavailable|inactive)
      @(to|addr) (is )?temporar* unavailable|unverified address|recipient (address )?verification (in progress|pending)|verification in progress
      temporary (domain|recipient|mailbox|user) (failure|error|problem)|recipient error|inbounds? disabled|(recipient|mailbox|user) (is )?(busy|in use|being (moved|migrated|accessed))|migration
      could not load drd|forwarding recipient|(unable|cannot|could not|failed) _ (contact|connect*|reach) ... (destination|recipient*|remote)|(recipient*|destination) ... (server|host|system) ... (unavailable|unreachable|not (responding|available|reachable)|busy|down|timed? ?out)`),
    not: phrases(`your (account|user)|sender ... limit|sender address`),
    means: 'temporary_recipient',
  },
];

const FULL_RULES: readonly Rule[] = [
  {
    when: phrases(`
      extended quota|(full|quota|storage) ... (inactive|abandoned|permanent*)`),
    means: 'mailbox_full_for_good',
  },
  {
    code: /\.2\.2$/,
    when: phrases(`{full}|quota`),
    not: phrases(`sending|send|sender|submission|outgoing|messages per|hourly|daily|rate`),
    means: 'mailbox_full',
  },
  {
    when: phrases(`
      {mailbox} ~ {full}
      {person} _ _ _ {full}
      {full} (for|in) (the |this )?{person}
      over ?quota|(disk|disc|mail|mailbox|maildir|storage|user|domain) ?quota|exceeded storage|storage allocation|mailbox full|quota exceeded|no space left on device .{0,20}user|boite pleine|postfach voll|buz.n lleno|casella piena|caixa (postal )?cheia|skrzynka pelna
      message ... exceed* ... mailbox quota`),
    not: phrases(
      `sending|message size|send quota|submission|messages per|hourly|daily|rate|system (storage|full)|(sender|your) _ quota|queue|outgoing|(recipient*|domain*) _ quota|throttl*|insufficient system|outbound`,
    ),
    means: 'mailbox_full',
  },
];

const POLICY_RULES: readonly Rule[] = [
  {
    when: phrases(`
      allowed senders? list|(not|n't) (in|on) _ _ _ (allow|white|safe|accepted|contact|approved|bypass|sender*) ?list*|recipient's list|not pre.?approved|senders? ... (must|to) be (approved|on the|in the)|senderfilter*
      (blocked|rejected|refused|denied|prohibited|restricted|blacklisted) by (the |this |your |a )?(recipient*|user|addressee|customer|destination|receiving|remote|target) _ 
      (blocked|rejected|refused|denied|prohibited|restricted|blacklisted) by (the |this |your |a )?(recipient*|user|addressee|customer|destination|receiving)
      (rejected|refused|blocked) by _ (organi[sz]ation|administrator|admin)|user (rules?|reject|refuses|has (refused|blocked))|recipient* (preferences|refuse*|privacy|policy|only)|privacy settings|block-(rcpt|send-er)|customi[sz]ed block
      (recipient|mailbox|customer|group|list|addressee|user|server|account) _ _ (not accept* (mail|messages|e-?mail)? ?from|only accepts?|accepts? only|is only accepting|refuses|does(n't| not) want|is not accepting|closed to|has restricted|restricts)
      delivery (is )?(restrict*|not (authori[sz]ed|permitted|allowed))|restricted by policy|mailbox _ is restricted|user refused to|delivery failure policy|not authori[sz]ed ... (to send|deliver|post) to|not (allowed|permitted) to (post|send|deliver) to|(authenticated|internal) senders|organi[sz]ation(al)? (policy|settings)|rejectmessage
      policy rejection|policy ... (on the )?target|closed (mailing )?(group|list)|moderated|(mailing list|group|distribution list) ... (not|only|member*)|members ?only|non ?members?|administrative prohibition|envelope (blocked|rejected)|sender denied|manually blocked senders|blocked senders
      (route|mailbox|recipient|domain|address|host|host/domain|account|server|user) (does|do)(n't| not) (currently )?(accept|receive|want) _ (mail|messages|e-?mails?)|recipients? (are|is) restricted|mail receiving disabled|(for|by) (mailbox|group|organi[sz]ation|public folder)
      no thank you|envelope recipient has been denied|not authenticated (by|for) `),
    not: phrases(`sender address rejected: not|dmarc|spf|dkim|nullmx`),
    means: 'recipient_policy',
  },
];

const GONE_RULES: readonly Rule[] = [
  {
    when: phrases(`
      recipient no longer on server|has moved|mailbox ... (has )?moved|boite du destinataire archivee|archived recipient|no longer valid
      {mailbox} ~ {disabled}
      deactivated due to
      (this|the|that|user|his|her|customer) (user|account|address|e-?mail|customer|e-?mail address|e-?mail account|email account) _ _ _ (is |has been |was )?(currently |permanently )?{disabled}
      {disabled} (recipient|user|mailbox|account|address|e-?mail|e-?mail address)
      (user|account|address|e-?mail|domain|@to|@addr):? (is |has been |was |has |are )?(a )?(currently |permanently |invalid/)?{disabled}
      incoming ... {disabled}|(compte|boite) ... {disabled}|(benutzer|konto|postfach) ... {disabled}|(cuenta|buz.n|usuario|conta|utente|casella|caixa) ... {disabled}`),
    not: phrases(
      `your (account|domain)|blocked (by|using|for|for spam*)|(ip|client|host) ... blocked|sending|outgoing|blocked senders|sender|mail from|listed|spamhaus`,
    ),
    code: /^(?!4)/,
    means: 'recipient_disabled',
  },
];

const UNKNOWN_RULES: readonly Rule[] = [
  {
    when: phrases(`
      {mailbox} ~ {unknown}
      {person} _ {unknown}
      {unknown} _ {person}
      {invalid} _ (recipient*|mailbox|user|destination|rcpt|to address|address syntax|addressee|e-?mail address|empf.nger*|destinataire*|destinatario*|mailbox path)
      (recipient*|mailbox|user|destination|rcpt|to address|addressee|@to|@addr|empf.nger*|destinataire*|destinatario*|e-?mail address|address) _ _ {invalid}
      (recipient*|mailbox|user|address) (cannot|could not|can't) be verified|rcpt user _ not ok|recipient* not ok|not a member of domain
      (subscriber|user|recipient*|contact) e-?mail (address )?is (invalid|not valid)
      no such _ (user|mailbox|recipient|address|account|person|domain|id|one|name|local user|rcpt)|unknown local ?part|no mail ?box (here )?by (that|this) name|no (one|body) (here )?by that name|no one at this address
      not (our|a) (customer|user|subscriber|valid (user|mailbox|recipient|e-?mail|address|e-?mail address))|user (is )?not (our|here|local|known)|(do|does)(n't| not) have an? _ _ (account|mailbox|user)|we do not have
      no valid recipients?|all recipients (are )?invalid|bad (destination|recipient|address)|unrout(e)?able address|undeliverable address|unknown or illegal alias|not a (registered|known|local) _ user|i cannot deliver mail for
      nessun utente|no existe (dicha|ese|esa)|kein (solches|solcher|postfach|benutzer)|pas de (compte|boite)|aucun (compte|utilisateur)|usuario no|utente non|this (spectator|recipient) does
      (is|was) (no longer|not) (valid|in use|active)|no account (here )?(by|with|for)|badrcptto|badrecipientto|validrcptto|is not in my`),
    not: phrases(
      `sender*|from (address|header|domain)|mail ?from|client|helo|ehlo|command|authenticat*|ptr|reverse|your (account|domain|ip|user)|credential*|api|api key|ip|dns|header*|spf|unknown error|error unknown|from:|relay*`,
    ),
    code: /^(?!4)/,
    at: ['rcpt', 'body', 'data', 'any'],
    means: 'recipient_unknown',
  },
  {
    when: phrases(`
      (recipient )?(host|domain|mail domain) _ _ (unknown|not found|(does|did)(n't| not) exist|not (be )?(found|resolv*)|not reachable|unreachable|has no mx|not exist|has a null mx)|(unknown|no such) (host|domain)|name or service not known|recipient domain|no mx (record )?(found )?for|unroutable (mail )?domain|unrouteable (mail )?domain|nullmx`),
    not: phrases(
      `sender*|from (address|header|domain)|mail ?from|client|helo|ehlo|ptr|reverse|your domain|ip|spf|dmarc|try again|temporar*`,
    ),
    code: /^(?!4)/,
    at: ['rcpt', 'body', 'data'],
    means: 'recipient_unknown',
  },
];

/** Read before the limits of accounts: the words say that the limit is the mailbox's. */
export const MAILBOX_RULES: readonly Rule[] = [...BUSY_RULES, ...FULL_RULES];

/** About the mailbox or the domain that a message is for. */
export const RECIPIENT_RULES: readonly Rule[] = [...GONE_RULES, ...UNKNOWN_RULES];

export const RECIPIENT_POLICY_RULES = POLICY_RULES;
