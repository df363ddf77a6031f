import { phrases } from './phrases.ts';
import type { Rule } from './rule.ts';

/** A closed account, said when the recipient was named. */
const CLOSED_RULES: readonly Rule[] = [
  {
    when: phrases(`
      no (recipient |user |account |login )?activity since|administratively {disabled}
      (user|account|mailbox|recipient)( account)? (is )?unavailable
      (cannot|can't|can not|unable to|not able to) receive (any )?(mail|messages|e-?mails?)
    `),
    not: phrases(`
      sending|send|outgoing|outbound|spam*|limit*|quota|full|temporar*|try again|your (ip|server|host|domain)|more
      mailbox (is )?unavailable|smtp|relay*|thank you|{owner} account
    `),
    at: ['rcpt'],
    code: /^5/,
    means: 'recipient_disabled',
  },
  {
    when: phrases(`
      ^(@(to|addr):? |[a-z]+: )?(this |the |user )?(account|user) (is |has been |was |
        no longer )(currently )?(not active|active|inactive|disabled|suspended|de-?activated|
        closed|expired|terminated|locked|blocked|discontinued)
    `),
    at: ['rcpt'],
    code: /^5/,
    means: 'recipient_disabled',
  },
  {
    when: phrases(`
      (account|mailbox) of (this|the|that) (user|recipient|addressee) (is |was |
        has been ){0,2}{disabled}
    `),
    not: phrases(`sending|send|outgoing|outbound|spam*|temporar*|try again|abus*|policy|policies`),
    at: ['rcpt'],
    code: /^5/,
    means: 'recipient_disabled',
  },
  {
    when: phrases(`
      (this|that) (e-?mail )?address (does(n't| not)|is not) (belong to|of) (any|a|one of our) (customer|user|
        subscriber|mailbox|account)
    `),
    at: ['rcpt'],
    code: /^5/,
    means: 'recipient_unknown',
  },
  {
    when: phrases(`(account|user|mailbox) _ _ (due to|because of|for) inactivity`),
    at: ['rcpt', 'data', 'body'],
    code: /^5/,
    means: 'recipient_disabled',
  },
];

/** The words alone say that it is this mailbox, and that it passes. */
const BUSY_RULES: readonly Rule[] = [
  {
    when: phrases(`unverified address`),
    not: phrases(`sender`),
    code: /^4/,
    means: 'temporary_recipient',
  },
  {
    when: phrases(`name ?server (timeout|timed out)`),
    also: /@(?:to|addr) ?\.{3}/,
    not: phrases(`{sender}`),
    at: ['rcpt'],
    code: /^4/,
    means: 'temporary_recipient',
  },
  {
    when: phrases(`
      (account|user|mailbox|recipient) ... receiv* more (messages|mails?|e-?mails?) than
      (cannot|can't|could not|couldn't|unable to) (be )?(complete|finish|perform) (the )?recipient
      no valid hosts?|no answer from (@host|@todomain)|closed by (the )?remote|mta-sts ... policy
      (address|mailbox|recipient|user|@to) _ (receives?|gets?|is (getting|receiving)) (more than|too many|over|up to)
      locked by another|gets more (mail|messages)|
      receiving (mail|messages|e-?mail) (at a|too)|receive too (many|much)
      received too (many|much) (e-?mails?|messages)|messages they can receive
      to this recipient per|receive limit
      (messages|e-?mails?|mail) (to|for) @(to|addr) ... (deferred|volume|rate|too many|limit*)
      @(to|addr) (has |received )?too many|too many (recent )?(messages|recipients) received
      too many _ (messages|e-?mails|mails) (for|to) (this|the|that) (user|recipient|mailbox|
        address|domain)
      recipient* (domain* )?_ (hourly|daily|rate|thread|message) _ (quota|limit*)
      recipient thread limit|recipient quota|recipient has exceeded
      (mailbox|recipient|user) _ _ (message )?(rate limit*|throttl*)|organi[sz]ation queue quota
      {mailbox} ... temporar* (locked|disabled|suspended|unavailable|blocked|inactive|rejected|
        not available)
      (user|account|incoming|domain) _ temporar* (locked|disabled|suspended|unavailable|
        inactive)
      @(to|addr) (is )?temporar* unavailable
      recipient (address )?verification (in progress|pending)|verification in progress
      temporary (domain|recipient|mailbox|user) (failure|error|problem)|recipient error
      inbounds? disabled
      (recipient|mailbox|user) (is )?(busy|in use|being (moved|migrated|accessed))|migration
      (cannot|can't|could not|unable to) (resolve|verify|route|check) (@to|@addr|recipient*|
        address)
      could not load drd|forwarding recipient
      (unable|cannot|could not|failed) _ (contact|connect*|reach) ... (destination|recipient*|
        remote)
      recipient's (server|host|system) _ _ (not|n't) (answer*|respond*|reachable)
      (recipient*|destination) ... (server|host|system) ... (unavailable|unreachable|
        not (responding|available|reachable)|busy|down|timed? ?out)
    `),
    not: phrases(`
      your (account|user)|sender ... limit|sender address|not allowed to send
    `),
    means: 'temporary_recipient',
  },
];

/** The mailbox is full. */
const FULL_RULES: readonly Rule[] = [
  {
    when: phrases(`
      extended quota|(full|quota|storage) ... (inactive|abandoned|permanent*)
    `),
    means: 'mailbox_full_for_good',
  },
  {
    when: phrases(`
      (not|n't|not have) (enough|sufficient) _ _ (space|storage|room)|insufficient disk space
      (reached|exceed*|over) _ (disk|storage) quota|disk ?quota
    `),
    code: /^5/,
    not: phrases(`system|server|message`),
    at: ['rcpt', 'body', 'data', 'any'],
    means: 'mailbox_full',
  },
  {
    code: /\.2\.2$/,
    when: phrases(`{full}|quota`),
    not: phrases(`
      sending|send|sender|submission|outgoing|messages per|hourly|daily|rate
    `),
    means: 'mailbox_full',
  },
  {
    when: phrases(`
      {mailbox} ~ {full}
      (not (enough|sufficient)|does not have enough) (disk |storage )?space (in |
        for )?.{0,12}(user|mailbox|account|recipient)
      user ?disk quota|quota violation|(over|would be over) the allowed quota
      space (has been |is |has )?(all )?(used up|exhausted|depleted)|diskspace quota
      (reached|exceed*) (disk|storage) quota|(reached|hit|met) (its|the|their|his) (disk |mail |storage )?quota
      no more (storage|space|quota)|quota depasse|mailbox is over its limit
      user has too many messages|{person} _ _ _ {full}|{full} (for|in) (the |this )?{person}
      over ?quota|(disk|disc|mail|mailbox|maildir|storage|user|domain) ?quota|exceeded storage
      storage allocation|mailbox full|quota exceeded|no space left on device .{0,20}user
      over (the |its |their )?(storage|disk|space) (allowance|limit)|quota (of )?\\d+ ?([kmg]i?b|bytes)
      (can't|cannot|can not|unable to) (take|accept|receive|hold|store) (any )?(more|further|
        additional) (mail|messages|e-?mail)|has used (all|up) _ _ (storage|space|quota)
      {mailbox} ... (maximum|allowed|available) (\\S{1,20} ){0,2}(size|space|storage)
      exceed* (maximum|max|the|its|allowed) _ _ {mailbox} (size|limit|quota|space)
      (exceed*|over|above|larger than|beyond) (the |its |their |his )?(maximum |max |allowed |available |
        space ){1,3}_ _ (in )?_ {mailbox}
      not able to (receive|accept|take) (any )?more
      larger than the (space|storage)|quota is (over|used|gone)|out of quota|over (the )?quot[ae]
      {person} ... (maximum|allowed) (number of )?(messages|mails|e-?mails) _ _ {mailbox}
      (mail ?)?folder (is )?full
      boite pleine|postfach voll|buz.n lleno|casella piena|caixa (postal )?cheia|skrzynka pelna
      message ... exceed* ... mailbox quota
    `),
    not: phrases(`
      sending|message size|send quota|submission|(messages|e-?mails|mails) per|per month|monthly
      hourly|daily|rate|system (storage|full)|storedrv disk is full|(sender|your) _ quota|queue (?!as)
      full (e-?mail|address|name|domain)|outgoing|(recipient*|domain*|spam) _ quota|throttl*|insufficient system
      outbound
    `),
    means: 'mailbox_full',
  },
];

/** About the mailbox a message is for; read before the limits of accounts. */
export const MAILBOX_RULES: readonly Rule[] = [...CLOSED_RULES, ...BUSY_RULES, ...FULL_RULES];
