import { FORBIDDEN, PASSING } from '../languages/conditions.ts';
import { SENDER, SENDING } from '../languages/subjects.ts';
import { phrases } from '../rules/phrases.ts';

/** Words that no refusal of a recipient or a message by itself has. */
const OTHER_CAUSE = phrases(`
  limit*|quota*|allowance|exceed*|too (many|much|fast)|{full}|{list}|{period}|storage|space
  suspend*|suspension|paused|frozen|(sign|log) ?in|login|password|credential*|authenticat*
  relay*(?!=| recipient)|your(?! (message|mail|e-?mail|recipient|letter))|sent|send|sending|today
  you(?! (tried|are trying|entered|specified|typed|sent))|outgoing|outbound|billing|payment
  invoice|upgrade|spam*|reputation|blocked|block ?list*|(mail|header|envelope) from
  (from|of) (this|the|your) (sender|address|domain|ip|host|server)|from header|ip|ips|helo|ehlo
  senders?|originator|from (address|domain)|@from|@fromdomain|command*(?! rcpt)
  parameter*|argument*|option*|syntax|protocol|connection|connect|timed? ?out
  timeout|queue*|spool*|write|writing|deferred|delay*|{temporary}|overload*|moved|locked|load
  permissions?|permit*|(not|n't) (been )?verified|entitled|not authori[sz]ed|mx|dns|tls|mta-sts|internal
  system (error|fail*)
  processing|socket|stuffed|overfull|(can't|cannot|can not) be reached|unreachable
`);

/** Words that only an answer to the account has, whatever else it speaks of. */
const OWN_CAUSE = phrases(`
  your (\\S{1,20} )?(accounts?|plan|trial|subscription|log ?in|identity|ips?|helo|credits?|limits?|allowance|package)
  (this|the|a|paid|free|higher) (plan|subscription|trial|tier|package)|(free|paid|trial|sandbox|demo|new) accounts?
  (free|trial|sandbox|demo) (users?|tier|mode|customers?)|sandbox*|sasl|credits|token
  outbound|outgoing|unauthenticated (clients?|users?|senders?|connections?)|suspended (customer|client|sender)
  (account|user|login|customer) (is |was )?(over|sends?|sending|compromised|hacked|not verified)|until you
  you (pay|verify)|you (are|were|have|have been) (violat*|abus*|in violation|breach*)
  (domain|recipient|address) (is )?not (used|allowed|enabled|configured|permitted|set up|registered) (for|by|in|with|
    on) (this|the) (account|log ?in|customer|user)
  (because of|due to|for) (the |your )?(helo|ehlo)|(from|of) your (ips?|server|host|network)
  (ip|ips|@ip) (is |was |are )?(blocked|banned|listed|refused)
  sending (of )?(bulk|mass|more|from|is|limit*)|(send|sent|sending) (\\S{1,20} ){0,2}(today|per (day|hour|minute))
`);

/** Whether a reply is about the account or the machine that sends, whatever a phrase in it says. */
export const namesOwnCause = (words: string): boolean => OWN_CAUSE.test(words);

/** Words of what a code itself says (RFC 3463 §3.2): the syntax of the address, and that it has moved. */
const OF_CODES: Record<string, RegExp> = { '5.1.3': /\bsyntax\b/g, '5.1.6': /\bmoved\b/g };

/**
 * Whether a reply names a cause on the sender's side, trouble that passes, or a full mailbox. Then
 * no code beside the words says that a recipient does not exist or that a message is bad.
 */
export const namesOtherCause = (words: string, enhanced: string | null): boolean => {
  const own = OF_CODES[enhanced ?? ''];
  const rest = own ? words.replaceAll(own, '') : words;
  return [OTHER_CAUSE, SENDER, SENDING, FORBIDDEN, PASSING].some((pattern) => pattern.test(rest));
};
