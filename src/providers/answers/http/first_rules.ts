import { phrases } from '../rules/phrases.ts';
import type { Rule } from '../rules/rule.ts';

/** Words that count for more than the code beside them. */
export const FIRST_RULES: readonly Rule[] = [
  // How many one request may name, unlike how many an account may send to in a time.
  {
    when: phrases(`
      too many recipients ... (max|maximum|limit|limited|at most|up to|allowed) _ _ \\d+
      (max|maximum|at most|up to|no more than) _ \\d+ recipients
      (max|maximum|number) of recipients (is|per (request|message|e-?mail|call))
    `),
    not: phrases(`{window}|rate|quota|plan|trial|sandbox|today|daily`),
    means: 'message_syntax',
  },
  {
    when: phrases(`
      (api ?key|api_key|token|credentials?) (is |has been |was )?(temporarily )?suspended
      your account has been suspended
    `),
    means: 'account_suspended',
  },
  {
    when: phrases(
      `attachments? (of|with) (the|this) (type|extension) ... (blocked|forbidden|not (allowed|accepted))`,
    ),
    means: 'content_refused',
  },
  // JSON Schema, whatever field it names.
  { when: /\binvalid type\W{1,3}expected\b/, means: 'message_syntax' },
  {
    when: phrases(`
      resource _ locked|concurrent* _ requests?|another request is (already |still )?(updating|using|processing|running)
      (retry|try again) (the request )?(after|in) a (short|few|little)|already being (processed|updated)
    `),
    not: phrases(`limit*|quota|rate`),
    means: 'temporary_local',
  },
  // Amazon SES names the identities that it wants verified. In a sandboxed account that may be the
  // recipient alone: then nothing is wrong with the sender.
  { when: /identities failed the check .*@from(?:domain)?/, means: 'sender_not_allowed' },
  { when: /identities failed the check .*@to(?:domain)?/, means: 'account_sender' },
  { when: /identities failed the check/, knowsFrom: true, means: 'account_sender' },
  { when: /illegal address.*@from(?!\w)/, means: 'sender_syntax' },
  {
    when: phrases(`signature (expired|not yet current)|clock skew`),
    means: 'temporary_local',
  },
  {
    when: phrases(`
      error parsing (to|cc|bcc)|missing final @domain
      (local address|domain) (contains|starts|ends)|illegal address
    `),
    means: 'recipient_unknown',
  },
  {
    when: phrases(`
      not (a )?valid recipient( address)?
      recipient (e-?mail )?address (@(to|addr)|\\S{1,80}@\\S{1,80}) (is )?(malformed|invalid|not valid|illegal)
    `),
    not: phrases(`from|senders?|reply|too many|limit|required`),
    means: 'recipient_unknown',
  },
  {
    when: phrases(`
      not (yet )?activated ... activation|request activation|sending ... paused
    `),
    means: 'account_suspended',
  },
];
