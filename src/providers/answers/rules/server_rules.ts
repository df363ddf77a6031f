import { phrases } from './phrases.ts';
import type { Rule } from './rule.ts';

/** Words of a refusal that stands, whatever is said about later. */
const STANDS = phrases(`
  denied|prohibited|forbidden|refused|polic(y|ies)|(not|n't) (permitted|allowed|authori[sz]ed)|disabled|suspended
  auth*|log ?in|password|limit*|quota|exceed*|too many|{list}|reputation|spam*|gr[ae]y ?list*|{mailbox}|connection*
`);

/** A relay that cannot for the moment. */
const OF_THE_MOMENT: readonly Rule[] = [
  {
    when: phrases(`
      (unable to|cannot|can't|could not|not able to|failed to) (relay|forward|pass on) ... {temporary}
      (relaying|forwarding) ... (unavailable|failed|not (possible|available)) ... {temporary}
      {temporary} (unable to|not able to) (relay|forward)
    `),
    not: STANDS,
    means: 'temporary_local',
  },
  {
    when: phrases(`
      (service|server|system|host|daemon|we|i) (is|are|am) (about to|going to|being) (shut|restart*|reboot*|stop*)
      temporary (failure|error|problem) (of|in|with) (a|the|our) (lookup|table|map|database)
    `),
    code: /^4/,
    means: 'temporary_local',
  },
];

/** A load of the server is the reason for a refusal. */
const OF_LOAD: readonly Rule[] = [
  {
    when: phrases(`
      (service|server|system|machine|host|we|i|it) _ (is|are|am|was|being) _ (too|very|extremely|overly) busy
      (because|due to|since|reason) ... (overload(ed)?|too busy|load (average |is ){0,2}(too )?high)
      {heavy} (system |server |cpu )?load|load average _ too high|too much load|(server|system|machine) _ overloaded
    `),
    not: phrases(`
      your (ip|ips|host|server|machine|network|account)|you|{mailbox}|user|{list}|spam*|abus*|reputation
      too many|limit*|exceed*|quota|rate|concurrent|simultaneous|parallel|(maximum|max) _ _ {session}
      polic(y|ies)|gr[ae]y ?list*
    `),
    means: 'temporary_local',
  },
];

/** The queue of the server is what is long. */
const OF_QUEUE: readonly Rule[] = [
  {
    when: phrases(`
      too many (messages|mails?|e-?mails?) (are |waiting )?(in|on) (the |our |its |my )?(mail )?(queue|spool)
      (mail |local |our |the )queue (is )?(full|too (long|large|big))
    `),
    not: phrases(`{mailbox}|users?|account|your`),
    means: 'temporary_local',
  },
];

/** The system of the server is full (RFC 3463, X.3.1), not a mailbox. */
const OF_SYSTEM: readonly Rule[] = [
  {
    when: phrases(`
      (disk|disc|system|spool|volume|device|file ?system|storage|partition) (space )?(is )?(full|low|exhausted|exceeded)
      (disk|disc|system|spool|storage) (space|storage)|no space|out of (disk|space|storage)
    `),
    not: phrases(`{mailbox}|users?|account|@addr|quota|message size`),
    code: /\.3\.1$/,
    means: 'temporary_local',
  },
];

/** The server itself is in trouble, for a while. None of these ends a send. */
export const SERVER_RULES: readonly Rule[] = [
  ...OF_LOAD,
  ...OF_QUEUE,
  ...OF_SYSTEM,
  ...OF_THE_MOMENT,
];
