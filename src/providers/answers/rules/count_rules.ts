import { phrases } from './phrases.ts';
import type { Rule } from './rule.ts';

/** How many emails an account sends in a period of time. */
export const COUNT_RULES: readonly Rule[] = [
  {
    when: phrases(`
      (rate|volume|number|amount|count) of {piece} (sent |coming |received )?from (the |this |your )?(ips?|@ip|host|
        @host|server|network|ip address) ... {reached}
    `),
    not: phrases(`account|user|login|plan`),
    means: 'relay_limit',
  },
  {
    when: phrases(`
      excessive (message|mail|e-?mail|sending|submission) (rate|volume) (from|by|of) (the |this |your )?(sender|account|
        user|login)
    `),
    means: 'account_limit',
  },
  {
    when: phrases(`
      (only|than|over|of|is|sent|send|limit:?|max|maximum|exceed*|to|
        already) _ \\d+ _ {piece} ... {window}
      \\d+ _ {piece} (per|a|an|each|every) _ {unit}|\\d+ {piece} ?/ ?{unit}
      {piece} (per|an?|each|every|in|within|for) (the |this |an? |one |\\d+ |last ){0,2}{unit} ... {reached}
      {reached} ... {piece} (per|an?|each|every|in|within|for) (the |this |an? |one |\\d+ |
        last ){0,2}{unit}
      (hourly|daily|monthly|weekly) (allowance|maximum|cap|max|volume|ration|number|amount)
      (sending|sent|send|deliver*|mailing) (\\S{1,20} ){0,5}too (fast|quickly|frequently|rapidly)
      (no more|enough) (mails?|e-?mails?|messages|sending) _ _ {window}
      (max|maximum) _ _ _ (daily|hourly|monthly|weekly) (limit|quota)
      too many (recipients|rcpts) ... (?<!again )(in|within|per) \\d+ {unit}
      you have gone over \\d+|last (mail|message|e-?mail) (for|of) (today|this)
      next (mail|message|e-?mail) in \\d+ {unit}|one per \\d+ {unit}
      (sent|sends|send|sending) (\\S{1,20} ){0,3}more {piece} than _ _ (allowed|permitted|may)
      (sent|used) (up )?(the|its|all|your) _ (allowed|permitted|maximum|full) (number|amount|count) of {piece}
      sent all (of )?(the |your |its )?{piece} (of|for|in) (this|the) {unit}|allowance (resets|renews)
      (reached|sent|used) (all|what|as (many|much)) (\\S{1,20} ){0,3}(you|it|this account) (may|can|
        are allowed to|is allowed to)
      (sent|sending) as many {piece} as _ (may|can|allowed|permitted)
      (crossed|passed|gone (over|past)|went over) (the|your|its) _ (number|amount|count|limit|allowance)
      too many {piece} _ (by|from) (the |this |your )?(account|user|login|mailbox)
      too many {piece} ... (in|within|during) the (last|past) {unit}
      sender address rejected: (\\S{1,40} ){0,2}rate ?limit* (\\S{1,40} )?{reached}
    `),
    not: phrases(`
      {mailbox_only}|session|connections?|ip|@ip|hosts?|server (?!overload)|size|bytes|receiv*
      per message|invalid|unknown|recipient thread
    `),
    means: 'account_limit',
  },
];
