import { CONTENT_RULES } from './content_rules.ts';
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
    not: phrases(`command line|received:?`),
    means: 'message_syntax',
  },
  {
    when: phrases(`
      (message|mail|e-?mail|body|data|content|attachment*|payload|file|it|size|
        mime) ... (too (large|big|long)|oversize*|(larger|bigger) than|over*sized)
      (message|mail|e-?mail|content|attachment*|fixed|maximum|max|allowed|inbound|
        file) _ _ (size|length|mailsize) _ _ (exceed*|limit*|too|larger|over|maximum|permitted|
        allowed)
      exceed* ... (size|length|mailsize|databytes|megabytes|mb|bytes)|(size|length) ... exceed*
      too (large|big)|size limit|maximum _ size
      (length|size|number) of (data|attach*|message|body) ... (maximum|limit|threshold)
      (stream|message|mail|body|data) is (more|larger|bigger|longer|greater) than \\d+ (bytes|[kmg]i?b)
      more than \\d+ ?([kmg]i?b|(kilo|mega)?bytes|octets)|(message|mail) of (this|that) size|length (is )?over
      size (of )?\\d+ (\\S{1,20} ){0,4}(above|over|exceed*|beyond|(larger|bigger|greater|more) than)
      size (value|of \\d+)? ?(is )?(above|over|beyond|more than)|\\d+ ?[kmg]i?b is (more|bigger|larger)
      (over|above|beyond|exceed*) ... \\d+ ?((kilo|mega)bytes|[kmg]i?b)
      max* message size|message file too big|limit attachments|nachricht ... (zu gro.*|gr.{2,3}e)
      message trop (gros|volumineux|grand)|mensaje demasiado grande|taille (maximale|limite)
      tama.o m.ximo|mensagem muito grande|messaggio troppo grande|dimensione massima
      wiadomosc za duza
    `),
    not: phrases(`
      mailbox (size|is|quota|exceed*)|mailbox would|quota|storage|inbox
      allowed to (send|receive)|per (hour|day|minute|second)|too long (time|ago)|attachment count
      in the queue
    `),
    means: 'message_too_large',
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
      headers? (are |is )?(not|error|invalid|missing|malformed|broken|must|contain*|syntax)
      headers? (from|to|reply-?to|cc|sender) (exist*|is|are|has|have),? _ (not|invalid|missing|empty|bad)
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
      too many (message |mail |equal |same |duplicate )?(x )?headers?
      headers? (lines? )?(are )?too many|(contains?|has) (nul|null)
      (decod*|conver*) (fail*|error)|(cannot|can't|could not|unable to|failed to) (be )?(decode*|convert*)
      (not|n't|non) (comply|compl*|conform*|adhere) (with|to) _ (standards?|rfc*|internet)
      too long (a )?line|(maximum|max) _ line|crlf|bare (lf|cr)
      violates? rfc (5322|2822|822)
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
      too many recipients|(max|maximum|limit) of \\d+ recipients|(max|maximum) (number of )?recipients
      only one recipient
      multiple recipients|recipients? (limit )?per message|separate transaction
      split transaction|multiple destination domains|out of allow rcpt|number of recipients
      recipients? per message ... (exceed*|limit|maximum)
      (only )?one recipient( at a time| per| domain| only|,)|recipients ... separately
    `),
    not: phrases(`hours?|day|minute|seconds?|daily|hourly|rate|invalid|unknown|from (@ip|@host)`),
    means: 'message_later',
  },
  ...SIZE_RULES,
  {
    when: phrases(`
      hops?|hop count|(mail|message|routing|forwarding|alias|aliasing|e-?mail|delivery) loop*
      loop* (detected|back|broken)|message (is )?looping|mail is looping|looping
      too many received|received:? headers?|circular|mailloop
    `),
    not: phrases(`shop`),
    means: 'message_other',
    at4xx: 'message_later',
  },
];

export const CONTENT_AND_FORM_RULES: readonly Rule[] = [...FORM_RULES, ...CONTENT_RULES];
