import { phrases } from './phrases.ts';
import type { Rule } from './rule.ts';

/** Waiting is asked for by design. */
const GREYLIST_RULES: readonly Rule[] = [
  {
    when: phrases(`
      gr[ae]y ?list*|greylist*|graylist*|postgrey|sqlgrey|greypol
      (first (time|contact|delivery)|new sender) ... (later|retry|again|minutes)
      triplet|early retry|not yet authori[sz]ed to deliver|you are unknown|confirm this mail server
    `),
    not: phrases(`not greylist*`),
    means: 'greylisted_recipient',
  },
];

/** About the machine that sends, or what it is known for. */
export const REPUTATION_RULES: readonly Rule[] = [
  {
    when: phrases(`
      query refused|open resolver|(dns|dnsbl|rbl) (lookup |query )(failed|error|refused|timeout)
    `),
    means: 'temporary_local',
  },
  ...GREYLIST_RULES,
  {
    when: phrases(`
      (cannot|could not|can't|unable to|no|missing|invalid|bad|fail*|not have a|without|fix|
        valid|matching|proper|custom) _ _ (reverse dns|reverse|ptr|rdns|ptr record|your hostname|
        hostname)
      (reverse dns|ptr|rdns|reverse (hostname|lookup|resolution)|ptr record*) ... (fail*|missing|
        not|invalid|bad|generic|mismatch|required|no|must)
      (set|add|needs?|configure) (up )?(an? )?ptr
      ip (name|reverse) lookup (failed|rejected)|may not be mail exchanger|no rdns|bad dns ptr
      unresolvable relay host|forward dns|ptr record setup|generic dns
    `),
    means: 'relay_reputation',
  },
  {
    when: phrases(`
      (too many|excessive|many|number of) _ (invalid|unknown|bad|rejected|nonexistent|wrong|
        non existing|failed) (recipients?|users|addresses|mailboxes|rcpt*)
      (blocked|banned|rejected) _ _ (for|until) (the |a |\\d+ )?(day|hours?|minutes?|while)
      (temporarily|temporary) (blocked|banned|blacklisted|blocklisted) (for|due|because)
      flooding our|mail ?bomb*|(temporarily|temporary) (blocked|banned|blacklisted) by
    `),
    not: phrases(`limit|recipient (is|has)|mailbox is|your account|account`),
    means: 'relay_reputation_later',
  },
  {
    when: phrases(`polic(y|ies)|deferred|reject*|refuse*|denied|prohibit*`),
    not: phrases(`try again|busy|load|resources`),
    at: ['connect'],
    means: 'relay_reputation',
    at4xx: 'relay_reputation_later',
  },
  {
    when: phrases(`
      (ip|ips|host|server|client|network|mta|ip address) ... (rejected|blocked|refused|denied|
        banned|listed|blacklisted|block*|not (allowed|authori[sz]ed|permitted|welcomed?|
        accepted)|suspicious|abus*|insufficient reputation|spam*|poor|bad)
      (rejected|blocked|refused|denied|banned|listed|block list|blacklisted|unwelcome|poor|bad|
        low) ... (ip|ips|ip address|host|mta|network|senderbase|reputation|servers?)
      {list}|blocked (using|by|see|- see)|(?<!not )(?<!n't )(?<!not be )(listed|found) (in|on|at|by)
      blocked$|is blocked|part of their network|connection (refused|denied|dropped|rejected)
      (connections?|access) (not|will not be) accepted
      (you|your _) (are |is )?(not allowed|not welcome|not permitted|not authori[sz]ed|denied|
        prohibited|banned) to (connect|send|access|deliver|use)
      you are not allowed|access (is )?(denied|rejected)
      from @ip (is |was |are |has been )?(currently |temporarily )?(rejected|refused|denied|deferred|blocked|
        not accepted)
      access list denies
      (your )?access to _ _ _ (mail|e-?mail)? ?system|service (denied|refused)
      server access (denied|forbidden)|go away|get lost|open (relay|proxy)|lista blanca
      (black|bad|blocked|banned) ip|behaviou?r spam|(bad|spam*|suspicious) behaviou?r
      bypassing service provider|access-denied|insecure mail relay|reputation
      (user|spam) complaints|unexpected volume|dynamic (ip*|host*)|residential|geo ?ip
      geographical|country|from this range|suspicious (activity|behaviou?r|traffic|ip)
      abuse (detected|report*|of)|blocked for abuse|abus detecte|directly to our|spammer
      bloque(e)? pour|service refuse|abgelehnt|spam source|spam incident
      too many (spams?|unwanted messages|errors|spam complaints) (from (your|this|the)|
        have been sent)
      no access from|use the smtp server of your|refused - see|looks suspiciously like spammer
      nameserver query|bad sender ip|unverifyable sending|forging its|forged (helo|hostname)
      (do not|don't) want _ (mail|e-?mail|messages) from|not welcomed?
      (service|mail|messages|connections?) not accepted from _ (@ip|@host|your|this)
      not (currently )?accepting (mail|e-?mail|messages|connections) from (your|this|@ip)
      trustworthy|not trusted|do(n't| not) trust|spam list|you are sending spam
      (ip|ips|@ip|host|network|server|you) ... (in|into) (the |our |a )?(prison|jail|penalty ?box|sin ?bin)
      currently sending spam|used for spam
    `),
    not: phrases(`
      (message|mail|e-?mail) content|content of|attachment*|virus|urls?|links?|socket*
      matches found|directory|destination server|rejected recipients?|by (the |this |your )?(recipient*|user|addressee)
      relay* (access )?denied|mailbox (has been |is )?(blocked|disabled)|to @(to|addr)
      recipient account|as (non ?existent|unknown|invalid)
    `),
    means: 'relay_reputation',
    at4xx: 'relay_reputation_later',
  },
];
