import { phrases } from './phrases.ts';
import type { Rule } from './rule.ts';

/** How large the message or one part of it is. */
const SIZE_RULES: readonly Rule[] = [
  {
    when: phrases(`
      too (large|big|long) for (this|the) (recipient|mailbox|user)|recipsizelimit
      (message|length|size) ... limit set by (the )?recipient
      recipient* ... (maximum|max) ... message size
    `),
    means: 'too_large_for_recipient',
  },
  {
    when: phrases(`
      (headers?|header line*|header fields?|header names?) ... (too (large|long|big)|long|big|
        size|limit|exceed*)
      line* (is |are )?(too long|longer than)|line (length )?limit|line length|mime complexity
    `),
    not: phrases(`command line`),
    means: 'message_syntax',
  },
  {
    when: phrases(`
      (message|mail|e-?mail|body|data|content|attachment*|payload|file|it|size|
        mime) ... (too (large|big|long)|oversize*|larger than|over*sized)
      (message|mail|e-?mail|content|attachment*|fixed|maximum|max|allowed|inbound|
        file) _ _ (size|length|mailsize) _ _ (exceed*|limit*|too|larger|over|maximum|permitted|
        allowed)
      exceed* ... (size|length|mailsize|databytes|megabytes|mb|bytes)|(size|length) ... exceed*
      too (large|big)|size limit|maximum _ size
      (length|size|number) of (data|attach*|message|body) ... (maximum|limit|threshold)
      (stream|message|mail|body|data) is (more|larger|bigger|longer|greater) than \\d+ (bytes|[kmg]i?b)
      size (value|of \\d+)? ?(is )?(above|over|beyond|more than)|\\d+ ?[kmg]i?b is (more|bigger|larger)
      (over|above|beyond|exceed*) ... \\d+ ?((kilo|mega)bytes|[kmg]i?b)
      max* message size|message file too big|limit attachments|nachricht ... (zu gro.*|gr.{2,3}e)
      message trop (gros|volumineux|grand)|mensaje demasiado grande|taille (maximale|limite)
      tama.o m.ximo|mensagem muito grande|messaggio troppo grande|dimensione massima
      wiadomosc za duza
    `),
    not: phrases(`
      mailbox (size|is|quota|exceed*)|mailbox would|quota|storage|inbox
      allowed to (send|receive)|per (hour|day|minute|second)|queue|too long (time|ago)
      in the queue
    `),
    means: 'message_too_large',
  },
];

/** Spam, viruses and rules about the text. */
const CONTENT_RULES: readonly Rule[] = [
  {
    when: phrases(`
      (unable|cannot|can't|could not|failed) (to )?(scan|filter|check) (for|the|this|message)
      (filter|scanner|scan|milter|anti ?virus) _ _ (not|unavailable|timed? ?out|timeout|error|down|
        busy|offline|overload*|fail*)
    `),
    code: /^4/,
    means: 'temporary_local',
  },
  {
    when: phrases(`
      virus*|malware|malicious|infected|infizi*|trojan|phish*|worm|viral|ransomware
      (attachment|file) type|als spam|comme (spam|pourriel|indesirable)|como spam
      (attachment|attachments|macros?|scripts?|file|file type|extension*|archive) ... (not (allowed|accepted|
        permitted)|forbidden|banned|blocked|prohibited|illegal|denied|dangerous|reject*|
        disallowed|unsafe)
      (banned|blocked|prohibited|forbidden|dangerous|executable|illegal|disallowed|invalid|
        unsafe|potentially) _ (macros?|attachment*|file*|content|extension*)
      (zip|archives?|files?|attachments?|executables?) _ _ (not|never) (be )?accepted
      password protected|do not accept _ _ (zip|archive*|file*|attachment*|executable*)
      zip archives?|content rule|potential security issue|mime_banned|header_contenttype
      rejected as dangerous|spoof*
    `),
    means: 'content_refused',
    at4xx: 'content_later',
  },
  {
    when: phrases(`
      (message|mail|e-?mail|content|it|text|body|traffic|subject) ... (looks|identified|
        classified|considered|detected|likely|appears?|scored|flagged|marked|resembl*|
        recogni[sz]ed|suspicion|seems|probabl*|similar|judged|pattern|contains?|had) ... {spam}
      {spam} _ _ (rejection|message|mail|e-?mail|content|detected|score|filter|rejected|
        signature|traffic|check|probability|threshold|pattern|phrase|text|found|blocked|refused|
        not accepted|url|flag*)
      (content|spam) ... (rejected|refused|blocked|denied|filter*|prohibited|unacceptable|
        violat*|not (allowed|accepted))
      (rejecting|rejected|unacceptable|prohibited|suspected|inappropriate|
        objectionable) _ (mail )?content
      (as|like|is|possible|probable|considered|no|high|dont accept|don't accept|reject|be|
        suspected) {spam}
      (due to|by|as|for|because of) _ _ {spam}|reject id|probability of being {spam}
      by (our|the|a) _ filter|spamassassin|spamming|antispam|anti ?-?spam
      (mail|message|spam) score|scored|score ... (over|above|exceed*|limit)|junkmail|junk mail
      message filtered|mail filtered|rejected by filter*|filter* rejection|{spam}$
      too much {spam}|triggered a {spam}|{spam}-like|reject bulk|executable files
      images or other attachments|mass mailer
      (contains?|containing|includ*|present|having|breaches|in) _ _ _ (blacklisted |blocked |
        banned |spam |spammy |listed )?(url*|links?|uri*|surbl|uribl|domain in)
      blacklisted url|uribl|surbl|url ... (listed|block*)|header based|heuristic*|fingerprint
      bulk ?\\.?advertising|suspicion de contenu|mail rejete|contenu
    `),
    not: phrases(`
      (ip|ips|host|client|server|mta|network|ip address) ... (listed|reject*|block*|rate|
        reputation)
      client ip|sender ip|your ip|from your (ip|address|host)|from @ip|on the target
      anti ?spoof*|behaviou?r
    `),
    means: 'content_refused',
    at4xx: 'content_later',
  },
  {
    when: phrases(`
      (violat*|violation) _ _ _ (policy|policies|rule*)
      policy (restrictions?|violation|reasons?|rejection)
      (security|content|local|e-?mail|mail|message|internal|site) polic(y|ies)|policy reasons
      (denied|blocked|discarded|dropped|rejected) by policy|administrative policy
    `),
    at: ['body', 'data', 'any', 'rcpt'],
    not: phrases(`
      (ip|host|domain) based|recipient*|organi[sz]ation*|connection|access
      (target|destination) address|sending ip|client|envelope|sender|your ip|abuse
      (restricted|failure) (by )?policy|mailbox|relay*
    `),
    means: 'content_refused',
    at4xx: 'content_later',
  },
  {
    when: phrases(`
      (message|mail|e-?mail|data|content|subject) (is |was |has been |have been )?(reject|
        rejected|refused|blocked|denied|discarded|bounced|declined|not (allowed|accepted)) (by|
        due|for|because|as|based|-|:)
      ^(sorry )?(this |your |the )?(message|mail|e-?mail) (was |is |has been )(blocked|rejected|
        refused|denied)$
      (html|plain text) (mail|e-?mail|messages?) ... not|mail \\S{6,60} is rejected
      content reject|(mail|message) data refused
    `),
    at: ['body', 'data', 'any'],
    not: phrases(`
      (ip|host|domain) based|recipient*|organi[sz]ation*|ip|client|sender|domain|network
      reputation|user|destination|authenticat*|verified
    `),
    means: 'content_refused',
    at4xx: 'content_later',
  },
];

/** The form of the message. */
const FORM_RULES: readonly Rule[] = [
  {
    when: phrases(`
      (message|mail|e-?mail|body|text) ... (malformed|not (be )?(rfc|conform*|compliant|
        properly)|bare (lf|cr|linefeed|newline)|8-?bit|null (byte|character)*|not well formed|
        badly formed)
      (missing|no|invalid|malformed|duplicate|bad|multiple|syntactically|illegal|broken|required|
        two|more than one|several|non ?-?rfc) _ (date|subject|message ?-?id|to|header*|mime|
        content ?-?type|boundary|encoding) (header*|field*|line*)
      (missing|invalid|malformed|bad|broken|illegal) _ (headers?|mime|message ?-?id|
        content ?-?type|date|structure|data in message)
      headers? (are |is )?(not|error|invalid|missing|malformed|broken|must|contain*)
      header error|rfc ?-?(5322|2822|822|2045|2047|compliance|compliant)
      (5322|2822|822) ... (violat*|compl*)|message must be rfc|multiple subject
      without (a |an )?(valid )?(date|subject|from|message ?-?id|to):? ?(header|field|line)?
      subject is (mandatory|required|missing|empty)
      line endings?|end of line|(lf|cr) (without|line)
      bare (lf|cr|linefeed|newline|line feed|carriage return)s?|stray newline
      (parse|parsing) (error|fail*)|(could not|cannot|can't|unable to|failed to) (be )?parse*
      json pars*|duplicate header*|[78] ?-?bit data|smtputf8|non ?-?ascii|unicode|charset
      (invalid|corrupt|unreadable) message (content|data|format)|too many mime parts
      encoded word|invalid characters|binary content|base64 encoding|improper* format*
    `),
    not: phrases(`
      mailbox|recipient address|rcpt to|user (unknown|not)|helo|ehlo|mail from command|command
      domain (name )?(is )?invalid
    `),
    at: ['body', 'data', 'any', 'mail'],
    means: 'message_syntax',
  },
];

/** About this one message: its size, its content, its form, its way. */
export const MESSAGE_RULES: readonly Rule[] = [
  {
    when: phrases(`
      too many recipients|(max|maximum|limit) of \\d+ recipients|only one recipient
      multiple recipients|recipients? (limit )?per message|separate transaction
      split transaction|multiple destination domains|out of allow rcpt|number of recipients
      recipients? per message ... (exceed*|limit|maximum)
      (only )?one recipient( at a time| per| domain| only|,)|recipients ... separately
    `),
    not: phrases(`hours?|day|minute|daily|hourly|rate|invalid|unknown|from (@ip|@host)`),
    means: 'message_later',
  },
  ...SIZE_RULES,
  {
    when: phrases(`
      hops?|hop count|(mail|message|routing|forwarding|aliasing|e-?mail|delivery) loop*
      loop* (detected|back|broken)|message (is )?looping|mail is looping|looping
      too many received|received headers|circular|mailloop
    `),
    not: phrases(`shop`),
    means: 'message_other',
    at4xx: 'message_later',
  },
];

export const CONTENT_AND_FORM_RULES: readonly Rule[] = [...FORM_RULES, ...CONTENT_RULES];
