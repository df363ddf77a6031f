import { phrases } from './phrases.ts';
import type { Rule } from './rule.ts';

/** The recipient, or the rules of the recipient's side, do not want this message. */
export const RECIPIENT_POLICY_RULES: readonly Rule[] = [
  {
    when: phrases(`
      allowed senders? list
      (address|@to|@addr|mailbox|recipient|group|list|user) (only )?(accepts?|takes?|receives?|wants?) (mail|messages|
        e-?mail) (only )?from (inside|within) (the|our|this|its)
      (recipient|user|addressee|@to|@addr|mailbox) (has )?(set|created|made) (up )?an? (filter|rule|block)
      (recipient|user|addressee|@to|@addr) (has )?(put|placed|added|set) (you|your _|the sender|this sender|@from) (on|
        in|to|into) (his|her|their|its|the|a) _ (black|block|deny|ignore) ?list
      (not|n't) (in|on) _ _ _ (allow|white|safe|accepted|contact|approved|bypass|sender*) ?list*
      only accepts? (mail|e-?mail|messages) from (known|trusted|approved|specific|certain|authori[sz]ed|registered|
        some|selected)
      not accepting (mail|e-?mail|messages) from you$|users? rejects? the (mail|message)|rule imposed mailbox access
      list \\S{1,60} has no subscribers
      recipient's list|not pre.?approved|senders? ... (must|to) be (approved|on the|in the)
      senderfilter*
      (blocked|rejected|refused|denied|prohibited|restricted|blacklisted) by (the |this |your |
        a )?(recipient*|user|addressee|customer|destination|receiving|remote|target) _
      (blocked|rejected|refused|denied|prohibited|restricted|blacklisted) by (the |this |your |
        a )?(recipient*|user|addressee|customer|destination|receiving)
      (rejected|refused|blocked) by _ (organi[sz]ation|administrator|admin)
      user (rules?|reject|refuses|has (refused|blocked))
      recipient* (preferences|refuse*|privacy|policy|only)|privacy settings|block-(rcpt|send-er)
      customi[sz]ed block
      (recipient|user|mailbox|addressee) ... (rule|filter|setting)s? ... (block|reject|refuse)[a-z]{0,3}
      @(to|addr) (blocks|rejects|refuses)|external (senders?|mail) (may|can|must|are) ?not
      (@to|@addr|mailbox|recipient|group|list) (only )?(accepts?|takes?|receives?) (mail |messages |
        e-?mail )?(only )?(from )?authenticated (users|people)
      @(to|addr) _ (only|just) (accepts?|takes?|receives?)
      @(to|addr) (is |are )?(not|no longer) accept* (any )?(mail|messages|e-?mails?) from
      (recipient|user|addressee) has (banned|blocked|refused|rejected) (mail|messages|e-?mail|you)
      (takes?|receives?|accepts?|wants?) (mail|messages|e-?mail) (only )?(from|by) _ (known|approved|
        trusted|white*|listed|friends|contacts|members) _ only
      (recipient|mailbox|user|@to) _ (refuses|does(n't| not) (take|accept|want)) (mail|messages|e-?mail) from
      (recipient's|user's|addressee's) (own )?(rules?|filters?|settings|preferences)
      (only|just) (for )?(its |the |list )?(members|subscribers) (may|can|are)|(may|can|must) (only )?be (posted|sent|
        written) to by
      (list|group) ... (by|to|for) (its |own ){0,2}members|(personal|private|own|
        user's) (deny|block|black|reject|ignore) ?list
      mail is not being accepted (at|for) (this|that) address
      (recipient|mailbox|customer|group|list|addressee|user|server|
        account) _ _ (not accept* (mails?|messages?|e-?mails?)? ?from|only accepts?|accepts? only|
        is only accepting|refuses|does(n't| not) want|is not accepting|closed to|has restricted|
        restricts)
      delivery (is )?(restrict*|not (authori[sz]ed|permitted|allowed))|restricted by policy
      mailbox _ is restricted|user refused to|delivery failure policy|rule of the recipient
      opted out|(recipient|user|subscriber|addressee|contact|@to) (has |is |was |have )?unsubscribed
      badrcptto|(bounced?|bounces) check( filter)?$|(previously|already) unsubscribed from (this|your|the)
      (recipient|user|addressee) has blocked (you|this sender|your)
      delivery to this (address|mailbox|recipient) is restricted|(list|group) ... restricted to
      restricted to (members|internal)
      not (allowed|permitted|authori[sz]ed) to (write|send|post|deliver) to (this|the) (group|
        list)
      not authori[sz]ed ... (to send|deliver|post) to
      permission to (post|write|deliver|submit) _ _ _ (to|in) (this|the|that) (mailbox|list|group|folder)
      contact the owner of (this|the|that) (mailbox|list|group|folder)
      not (allowed|permitted) to (post|send|deliver) to|(authenticated|internal) senders
      organi[sz]ation(al)? (policy|settings)|rejectmessage|policy rejection
      policy ... (on the )?target|closed (mailing )?(group|list)|moderated
      (mailing list|group|distribution list|lists) ... (not|only|member*)|members ?only
      non ?members?|administrative prohibition|envelope (blocked|rejected)|sender denied as
      manually blocked senders|blocked senders
      (route|mailbox|recipient|domain|address|host|host/domain|account|server|user) (does|
        do)(n't| not) (currently )?(accept|receive|want) _ (mail|messages|e-?mails?)
      recipients? (are|is) restricted|mail receiving disabled
      (authenticated|authori[sz]ed|permitted|allowed|required) (for|by) _ (mailbox|group|
        organi[sz]ation|public folder)
      (rejected|refused|blocked) by organi[sz]ation|no thank you
      (recipient*|user|mailbox) ... (banned|does not accept spam)|organi[sz]ation does not have
      recipient (is )?not (authori[sz]ed|allowed|permitted)|restricted sms|account is protected
      (e-?mail|mail|messages?) (to|for) @(to|addr) ... not (be )?accepted|refuses? to receive
      (recipient|user|mailbox|addressee) @(to|addr) (is |was |has been )?(denied|refused|blocked|rejected)$
      (receiver|recipient|addressee) _ (den(y|ies|ied)|refuse[sd]?|decline[sd]?|blocked|blocks) _ (mail|message|e-?mail)
      (a |is )closed (mail )?system|(approved|permitted|authori[sz]ed|allowed) external (addresses|senders|contacts)
      (user|recipient|addressee|mailbox)'?s? _ (deny|block|black|reject|ignore) ?list
      refuses to accept|not subscribed to this group|(is|are) not accepting any (mail|messages)
      private list|on the suppression list|(is |been |was )suppressed|suppressed due
      suppression list|envelope recipient has been denied|not authenticated (by|for)
    `),
    not: phrases(`
      attachment*|ip ... blacklisted|sender address rejected: not|dmarc|spf|dkim|nullmx|rfc|list not found
    `),
    means: 'recipient_policy',
  },
];

/** The mailbox was there, and no longer takes email. */
const GONE_RULES: readonly Rule[] = [
  {
    when: phrases(`
      (recipient|user) (has )?never logged
      (user|recipient|customer) (has(n't| not)) (entered|logged|signed|read|checked)
      suspended.inactive. user|^(is )?(inactive|dormant|abandoned) (on|in|at|for)
      (mailbox|account|user|recipient|address) (is |was )?no longer (active|in service|operational|monitored|maintained)
      recipient no longer on server|has moved|no longer accepts? (mail|e-?mail|messages)
      you (tried|are trying) to (reach|contact) ... {disabled}|account is locked e-?mail bounced
      mailbox ... (has )?moved|boite du destinataire archivee
      (account|user|mailbox) (isn't|is not) allowed to receive|archived recipient
      not in use (any more|anymore)|(recipient|user|mailbox) was blocked by (the )?admin*
      no longer valid|{mailbox} ~ {disabled}|deactivated due to|no longer receives? (any )?(mail|e-?mail|messages)
      (not|no longer) accept* (mail|messages|e-?mail) (any ?more|any longer)
      (user|customer|recipient)'s (subscription|contract) (has |is )?(expired|ended|cancell?ed)
      (this|the|that|user|his|her|customer) (user|account|address|e-?mail|customer|
        e-?mail address|e-?mail account|email account) _ _ _ (is |has been |was )?(currently |
        permanently )?{disabled}
      {disabled} (recipient|user|mailbox|account|address|e-?mail|e-?mail address)
      (user|account|address|e-?mail|domain|@to|@addr):? (is |has been |was |has |
        are )?(a |now )?(currently |permanently |invalid/)?{disabled}
      incoming ... {disabled}|(compte|boite) ... {disabled}
      (benutzer|konto|postfach) ... {disabled}
      (cuenta|buz.n|usuario|conta|utente|casella|caixa) ... {disabled}
    `),
    not: phrases(`
      your (account|domain)|blocked (by|using|for|for spam*)|(ip|client|host) ... blocked
      sending|outgoing|blocked senders|sender|mail from|listed|spamhaus
      (wrong|unknown|invalid|not found) or
    `),
    code: /^(?!4)/,
    means: 'recipient_disabled',
  },
];

/** There is no such mailbox or domain. */
const UNKNOWN_RULES: readonly Rule[] = [
  {
    when: phrases(`
      host (unknown|not found)|invalid domain|domain ... {unknown}
      domain (has |with )?(neither|no) (an? )?(mx|a) (n?or|record)
    `),
    code: /^5\d\d 5\.(?:4\.[14]|1\.2)$/,
    not: phrases(`sender*|from|mail ?from|your domain|helo|ehlo`),
    means: 'recipient_unknown',
  },
  {
    when: phrases(`
      {invalid} _ (e-?mail )?address|(e-?mail )?address _ _ {invalid}|@addr _ _ {invalid}
    `),
    not: phrases(`sender*|from|ip|client|helo`),
    code: /^(?!4)/,
    at: ['rcpt'],
    means: 'recipient_unknown',
  },
  {
    when: phrases(`
      (handle|carry|take|accept)s? (mail|e-?mail) for (that|this) (user|mailbox|recipient|address)
      (not|n't) have an? _ (e-?mail|mail) (account|address|delivery point)|(matches|entries) found in _ directory
      (mx|srv) record indicated no|domain (is )?not used (for|by|to)|(recipient|inbox|mailbox) not found or
    `),
    not: phrases(`sender*|from|your (domain|account|ip)`),
    code: /^5/,
    at: ['rcpt', 'body', 'data', 'any'],
    means: 'recipient_unknown',
  },
  {
    when: phrases(`
      {mailbox} ~ {unknown}|{person} _ {unknown}
      (rcpt|e-?mail) ... (does|dos|do)(n't| not|nt) exist|{unknown} _ {person}
      unverified address|(recipient|address) verification problem
      (is |was )?not (a )?user of (this|the)|unavailable (mail )?user|do(es)?n't exists?
      no ?such ?(user|mailbox|recipient|account)|unresolvable (recipient |e-?mail )?address
      recipient( address)? (must|has to|should|needs to) (contain|have|include) _ (domain|host)
      recipient( address)? (lacks|without|has no|is missing|contains no) _ domain
      failed recipient validation
      (refused|rejected) by (the |our )?(internal|inner|destination|next|mail) (server|
        host) as (non ?existent|unknown|invalid)
      no ?(body|one) (by|of|with) (the|this|that) name
      recipient address (syntax|rejected: need)|address is (missing|invalid)|reserved by rfc
      null ?mx|unable to route|nxdomain|domain not in use|nowhere to deliver|no valid domain
      (mailing list|list) {unknown}
      @(to|addr|host) (is )?(not deliverable|undeliverable|unroutable)
      (restricted|illegal|bad|special|invalid|unsupported) characters? in _ _ (address|
        local ?part|recipient*)
      (recipient|callout|address) (verify|verification) fail*
      (cannot|can't|unable to) (be )?route*
      {invalid} _ (recipient*|mailbox|user|local part|destination|rcpt|rcptto|to address|
        addressee|empf.nger*|destinataire*|destinatario*|mailbox path)
      (recipient*|mailbox|user|destination|rcpt|to address|addressee|@to|empf.nger*|
        destinataire*|destinatario*) _ _ {invalid}
      (recipient*|mailbox|user|address) (cannot|could not|can't) be verified|rcpt user _ not ok
      recipient* not ok|not a member of domain
      (subscriber|user|recipient*|contact) e-?mail (address )?is (invalid|not valid)
      (wrong|unknown|invalid) or no longer|never (been )?(in use|used|registered|assigned)
      (addressee|recipient|user|mailbox|rcpt) unknown|of that name|by that name|has left _ _ (company|
        organi[sz]ation|us)
      (we )?(have|has) no (record|knowledge) of|(improper|wrong|faulty) (recipient )?address
      no such _ (user|mailbox|recipient|address|account|person|domain|id|one|name|local user|
        rcpt)
      (account|user|address|mailbox|recipient) (that )?you (tried|are trying) ... {unknown}
      no (mail ?box|mailbox|account) (found|available)
      (non ?existent|non existing|inexistent|unexist[ae]nt) (user|mailbox|recipient|address)
      (user|mailbox|recipient|address) (is )?(unexist[ae]nt|inexistent|non ?existent)|can't accept user
      not an active address|not (a )?(local|e-?mail) address*|e-?mail name is not found
      recipient is not accepted|destination server rejected recipients|in name directory
      bad recipient|@(to|addr) (was )?not found|recipient ... not found in
      local ?part (is )?too long|(recipient|forward) path (is )?too long
      recipient address rejected: (userunknown|invalid)|unknown local ?part|no mail ?box here
      no mail ?box (here )?by (that|this) name|no (one|body) (here )?by that name
      no one at this address
      not (our|a) (customer|user|subscriber|valid (user|mailbox|recipient|e-?mail|address|
        e-?mail address))
      user (is )?not (our|here|local|known)
      (do|does)(n't| not) have an? _ _ (account|mailbox|user)|no valid recipients?
      all recipients (are )?invalid|bad (destination|recipient|address)|unrout(e)?able address
      undeliverable address|unknown or illegal alias|not a (registered|known|local) _ user
      i cannot deliver mail for|nessun utente|no existe (dicha|ese|esa)
      kein (solches|solcher|postfach|benutzer)|pas de (compte|boite)|aucun (compte|utilisateur)
      usuario no|utente non|this (spectator|recipient) does
      (is|was) (no longer|not) (valid|in use|active)|no account (here )?(by|with|for)|badrecipientto
      validrcptto|is not in my
    `),
    not: phrases(`
      sender*|from (address|header|domain)|mail ?from|client|helo|ehlo|command|authenticat*|ptr
      reverse|your (account|domain|ip|user)|credential*|api|api key|ip|dns|header*|spf
      unknown error|error unknown|from:|relay*(?!=| recipient)
    `),
    code: /^(?!4)/,
    at: ['rcpt', 'body', 'data', 'any'],
    means: 'recipient_unknown',
  },
  {
    when: phrases(`
      (recipient )?(host|domain|mail domain) _ _ (unknown|not found|(does|did)(n't| not) exist|
        not (be )?(found|resolv*)|not reachable|unreachable|has no mx|not exist|has a null mx)
      nxdomain|domain lookup failed|(unknown|no such) (host|domain)|name or service not known|recipient domain
      domain (is )?(obsolete|retired|no longer (in use|exist*|active))
      no mx (record )?(found )?for|unroutable (mail )?domain|unrouteable (mail )?domain
    `),
    not: phrases(`
      sender*|from (address|header|domain)|mail ?from|client|helo|ehlo|ptr|reverse|your domain
      ip|spf|dmarc|try again|temporar*
    `),
    code: /^(?!4)/,
    at: ['rcpt', 'body', 'data'],
    means: 'recipient_unknown',
  },
];

/** About the mailbox or the domain that a message is for. */
export const RECIPIENT_RULES: readonly Rule[] = [...GONE_RULES, ...UNKNOWN_RULES];
