import { phrases } from './phrases.ts';
import type { Rule } from './rule.ts';

/** Spam, viruses and rules about the text. */
export const CONTENT_RULES: readonly Rule[] = [
  {
    when: phrases(`
      (unable|cannot|can't|could not|failed) (to )?(scan|filter|check) (for|the|this|message)
      (filter|scanner|scan|milter|anti ?virus|clamav|clamd|spamd|spamassassin|rspamd|amavis*|dspam) _ _ (not|
        unavailable|timed? ?out|timeout|error|down|busy|offline|overload*|fail*|problem|trouble)
      (problem|trouble|error|failure|fault) (with|in|of) (the |our )?_ (filter*|scanner|milter|anti ?virus|
        content check)
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
      rejected as dangerous|spoof*|(files?|attachments?|links?|content) ... (could|may|might|would) harm
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
        signature|traffic|check|probability|threshold|pattern|phrase|text|found|blocked|refused|scale|bomb|
        level|rating|points|not accepted|url|flag*)
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
  // After the text, what a filter looks at is the reason.
  {
    when: phrases(`
      (attachments?|html|urls?|links?|phone numbers?|keywords?|words?|phrases?|images?|macros?|extensions?|
        contents?|subject) ~ (refus*|reject*|(not|n't|never) (be )?(allow*|accept*|permitted)|unacceptable|
        banned|blocked|forbidden|prohibited|restricted|denied|maximum|exceed*|limit|inappropriate|offensive)
      (url|phone|keyword|attachment|body|subject|content|text|bayes*|image|word) _ (filter|filtering|scan|check|
        policy|rule)
      held for (human|manual|review|verification|moderation)|(intent|content|bayes*) analysis
      rejected by (dcc|razor|pyzor|bayes*|vade|cloudmark|rspamd)|(was|is|been) quarantined|quarantined
      (accept|take|allow|want) (e-?mails?|mails?|messages) with _ _ _ (content|attachments?|images|text)
      permanently rejected message
      (sensitive|bad|dirty|illegal|forbidden|prohibited|offensive|profane|taboo) (words?|keywords?|phrases?|terms?)
    `),
    at: ['body'],
    code: /^5/,
    not: phrases(`
      ip|ips|client|host|sender|reputation|recipient*|account|quota|mailbox (full|size)|from (header|field|address)
      number of recipients|listed (in|at|on|by)|dmarc|spf|dkim|content-length
      (xbl|sbl|pbl|cbl|zen)
    `),
    means: 'content_refused',
  },
  {
    when: phrases(
      `(message|mail|e-?mail) (is|was|has been) (held|parked|on hold|quarantined)|held (for|before|pending)`,
    ),
    at: ['body'],
    code: /^4/,
    means: 'content_later',
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
      (restricted|failure) (by )?policy|mailbox|relay*|reverse|ptr|hosts?|forg(ing|ed)
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
      reputation|user|destination|authenticat*|verified|mailbox|address|forg(ing|ed)
    `),
    means: 'content_refused',
    at4xx: 'content_later',
  },
];
