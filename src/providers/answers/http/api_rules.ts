import { phrases } from '../rules/phrases.ts';
import type { Rule } from '../rules/rule.ts';

/** What APIs say in words of their own, about keys, permissions, accounts and fields. */
export const API_RULES: readonly Rule[] = [
  {
    when: phrases(`
      not allowed to send (large|big|bulk) (batches|volumes|amounts)|(recipient|request|rate) limit exceeded
      limit exceeded, try again after
    `),
    means: 'account_limit',
  },
  {
    when: phrases(`
      sending (\\S{1,20} ){0,3}paused|paused sending|sending has been disabled
      account ... (suspended|disabled|blocked|restricted|banned|deactivated|closed)
    `),
    not: phrases(`recipient`),
    means: 'account_suspended',
  },
  {
    when: phrases(`maximum credits exceeded`),
    means: 'account_limit',
  },
  {
    when: phrases(`
      (unrecogni[sz]ed|unauthori[sz]ed|unknown|not whitelisted|not allowed) _ ip( address)?
      ip( address)? _ _ (not (allowed|authori[sz]ed|whitelisted|permitted)|unrecogni[sz]ed)
    `),
    means: 'auth_required',
  },
  {
    when: phrases(`
      restricted to only|(do|does)(n't| not) have _ (permission*|access|rights|the required)
      (insufficient|missing|no|required|lacks?) _ _ (permissions?|scopes?|privileges|rights)
      permission denied|not authori[sz]ed to (perform|send mail|access|use)|access forbidden
      not permitted to (access|use|perform)
      (api key|token|credential) _ _ _ (permission*|restricted|scope|not allowed|cannot)
      access denied
    `),
    not: phrases(`
      sender|from address|from this (address|domain)|identity ... not verified|(wrong|bad|incorrect) credentials
    `),
    means: 'auth_required',
  },
  {
    when: phrases(`
      (invalid|missing|unknown|bad|wrong|incorrect|expired|revoked|no|inactive|disabled|
        malformed) _ _ (api ?keys?|api_key|tokens?|credentials?|signature|authori[sz]ation|
        access key|authentication|server token|username|login|private key)
      (api ?keys?|api_key|tokens?|credentials?|signature|authori[sz]ation( grant| header)?|
        access key|authentication|key|user matching) _ _ _ (invalid|missing|not valid|not found|
        expired|revoked|wrong|incorrect|failed|mismatch|not match|disabled|deactivated|
        does not match|required|is not active)
      signature we calculated|(api )?key not found|not authenticated
      authentication (failed|required)|could not authenticate|unauthenticated|user was not found
      api key (is )?(invalid|not)
    `),
    not: phrases(`dkim|spf|dmarc|sender|from|domain`),
    means: 'auth_failed',
  },
  {
    when: phrases(`
      suppress*|on _ (suppression|bounce|block|unsubscribe) list
      (unsubscribed|opted out|blocklisted|blacklisted|blocked) (contact|recipient|address)
      (recipient|contact|address|email) (has |is |was )?(unsubscribed|blocklisted|blacklisted|
        opted out)
      previously (bounced|unsubscribed)|do not send list|hard bounced
    `),
    not: phrases(`sender`),
    means: 'recipient_policy',
  },
  {
    when: phrases(`
      (recipient|address) ... (marked as |is )?inactive|inactive (recipient|address)
    `),
    means: 'recipient_disabled',
  },
  {
    when: phrases(`
      account (is )?(pending|under (review|validation)|not (yet )?(activated|approved|
        validated))
      pending approval|not (yet )?activated|activation (pending|required)
      same domain as ... from|(same|own) e-?mail address|authori[sz]ed recipients|testing emails
      activate your
    `),
    also: phrases(`pending approval|account ... (pending|approval|under|not)|activat*`),
    means: 'account_suspended',
  },
  {
    when: phrases(`
      you can only send testing e-?mails|only send _ _ _ your own e-?mail|sandbox*
      test (mode|domain)|authori[sz]ed recipients
    `),
    means: 'account_sender',
  },
  {
    when: phrases(`
      domain (name )?(\\S{1,253} )?(is )?(not found|does not exist|unknown|not registered|
        not configured)
      (unconfigured|unknown|unverified|invalid) (sending )?domain
      domain ... (unverified|must be verified|not (been )?verified|not verified|
        not (yet )?active)
      identity ... (not verified|does not exist|not found)
      (sender|from) (e-?mail |address ){0,2}(does(n't| not)) (contain|have|use|belong to) _ (verified|authenticated)
      (sender|from) _ _ _ (not (an )?(verified|found|confirmed|valid|active|authori[sz]ed|allowed|registered|
        defined|exist)|unverified|invalid)
      (not|n't) (an )?(authori[sz]ed|verified) (sender|from)|sender signature|sender identity
      (verified|valid) sender|mail ?from domain
      (not|n't) _ (allowed|authori[sz]ed|permitted) to send (from|as|on behalf)
      requires? (dns|domain) (configuration|verification)|invalid (sender|from) (address|e-?mail)
    `),
    not: phrases(`
      (from|sender) _ _ (parameter|field) (is )?(missing|required)|recipient|exceeded|limit
    `),
    means: 'sender_not_allowed',
  },
];

/** Faults of the request's fields. */
export const FIELD_RULES: readonly Rule[] = [
  {
    when: phrases(`
      (invalid|bad|illegal|malformed|incorrect) _ (from|sender)
      (from|sender)( e-?mail| address| field| parameter)?:? _ (is )?(invalid|malformed|incorrect|
        not (a )?valid|illegal)
      (from|sender)( e-?mail| address| field)? (does(n't| not) (contain|have)|is not) an? valid
    `),
    not: phrases(`missing|required`),
    means: 'sender_not_allowed',
  },
  {
    when: phrases(`
      (to|cc|bcc|recipients?|personalizations\\S{0,40}(to|cc|bcc)\\S{0,20}|
        messages\\S{0,20}to\\S{0,20}|to\\[\\d{1,4}\\]\\S{0,20}|to\\.\\S{0,20}): ... (valid|
        invalid|malformed|incorrect|not an? e-?mail)
      ('?to'?|recipient|cc|bcc) (parameter|field|address|e-?mail|
        email address) _ _ (is )?(not a |an |in)?valid
      invalid '?to'?( address| field| e-?mail)?
      (recipient|to) ... (invalid|not valid|illegal|malformed)
      (invalid|illegal|malformed) _ (recipient*|to address)|missing final
      (to|cc|bcc|recipients?)( \\d{1,3})?( email| address)?: ... (valid|invalid|illegal)
      none of the recipients|(to|cc|bcc|recipients?) email must be|not valid in (to|cc|bcc)
      (local address|domain) (contains|starts|ends)|illegal address
    `),
    not: phrases(`
      from:|from (parameter|field)|reply|limit|exceed*|too many|maximum|missing|required|sender
    `),
    means: 'recipient_unknown',
  },
  {
    when: phrases(`
      @(to|addr)"?'? (is )?(an |not an? )?(invalid|valid) (e-?mail|address)
      invalid e-?mail (address)?
    `),
    not: phrases(`from|sender|reply`),
    means: 'recipient_unknown',
  },
  {
    when: phrases(`
      attachment* ... (too (large|big)|exceed*|size|limit)|payload too large
      (request|body|message|content) ... (too (large|big)|exceed* _ _ (size|limit|maximum))
      (may|can|must) (only )?be (up to|at most|no more than) \\d+ ?[kmg]i?b
      size ... (exceed*|above|beyond|(larger|bigger|more|greater) than)|maximum (message |email )?size
      (message|body|content|request|data) (length|size) (is |was )?(more|larger|greater|longer|bigger)
    `),
    not: phrases(`rate|per (second|minute|hour|day)|recipient*`),
    means: 'message_too_large',
  },
  {
    when: phrases(`
      attachment* ... (forbidden|not allowed|blocked|prohibited|type)|forbidden attachment
      content ... (spam|rejected|blocked|policy|not allowed)|virus*|spam*
    `),
    not: phrases(`spam complaint`),
    means: 'content_refused',
  },
  {
    when: phrases(`
      (required|missing|must (be|have|contain|provide)|cannot be (empty|blank|null)|
        can't be (empty|blank)|is not allowed|invalid|malformed|not (a )?valid|incompatible|
        unexpected|unknown|unsupported|bad request|error occurred processing|at least one|
        too many|duplicate|template|parse|parsing|json|syntax|expected)
    `),
    means: 'message_syntax',
  },
];
