export type Elsewhere = {
  id: string;
  name: string;
  /** Where else it comes about, or how. */
  elsewhere: string;
  /** Titles of the tests that show it, by the file that they are in, from `test/` on. */
  shown: Readonly<Record<string, readonly string[]>>;
  holds: readonly string[];
};

const LOAD = 'also the load itself';

/** What is not brought about on its own here: where it is shown instead, or why it is not. */
export const shownElsewhere: readonly Elsewhere[] = [
  {
    id: 'F17',
    name: 'disk full, data volume',
    elsewhere: 'in a namespace of mounts',
    shown: {
      'fault/full_disk.test.ts': [
        'data: what finds no room is answered 503, and taken when there is room, by the same processes',
        'data: a server that a checkpoint ends loses nothing that was answered 202',
      ],
    },
    holds: ['I1'],
  },
  {
    id: 'F18',
    name: 'disk full, log volume',
    elsewhere: 'in a namespace of mounts; once the server is back it is F12',
    shown: {
      'fault/full_disk.test.ts': [
        'log: a server that cannot go on ends, and what was answered 202 is there once it is back',
      ],
    },
    holds: ['I1', 'I10'],
  },
  {
    id: 'F24',
    name: 'wrong certificates, STARTTLS stripped',
    elsewhere: 'at the preflight, which connects as a hand-off does',
    shown: {
      'providers/smtp.test.ts': [
        'is checked against the name it was asked for, not the address it went to',
        'certificate_invalid: with %s, an authority that nobody knows',
        'certificate_invalid: with %s, one of an authority that is known, and has run out',
        'starttls_not_offered: a relay without it gets no password',
      ],
    },
    holds: [],
  },
  {
    id: 'F25',
    name: 'slow name lookup',
    elsewhere: 'the resolver alone, and a worker with one such relay',
    shown: {
      'base/resolve_host.test.ts': [
        'a name that nobody answers for has no address, and holds up no other',
      ],
      'flows/tarpit_neighbour.test.ts': ['holds up no neighbour’s mail, and nobody who asks'],
    },
    holds: [],
  },
  {
    id: 'F27',
    name: 'webhooks duplicated and shuffled',
    elsewhere: `${LOAD}, which repeats each`,
    shown: {
      'feedback/any_order.test.ts': [
        'all that was recorded, told in opposite orders, ends in the same rows',
      ],
    },
    holds: ['I12'],
  },
  {
    id: 'F28',
    name: 'webhook before our outcome commit',
    elsewhere: 'at each moment of one send',
    shown: {
      'feedback/before_outcome.test.ts': [
        'that comes before a lost hand-off is settled proves that it was taken',
        'that comes after it proves it as well',
        'that comes before the outcome is written stays with the send',
      ],
    },
    holds: ['I7', 'I12'],
  },
  {
    id: 'F29',
    name: 'suppression races hand-off',
    elsewhere: LOAD,
    shown: {
      'flows/leave_in_hand_off.test.ts': [
        'no hand-off begins once somebody was told that an address is left alone, and none is late on the wire',
      ],
    },
    holds: ['I8', 'I9'],
  },
  {
    id: 'F30',
    name: 'poison event',
    elsewhere: `${LOAD}, of what is refused`,
    shown: {
      'ingest/poison_row.test.ts': [
        '500 internal_error: one row that cannot be stored fails alone, as request %i of its flush',
      ],
      'ingest/poison_event.test.ts': [
        'what came with it, in its flush and in others, is processed; it alone stays',
        'while it waits nothing tries it; when its time has come it is tried, and waits longer',
      ],
    },
    holds: ['I2'],
  },
  {
    id: 'F31',
    name: 'poison template',
    elsewhere: 'in the renderer, and in a batch of mails',
    shown: {
      'rendering/threads.test.ts': [
        'a task that takes too long is stopped from outside, and says so; no other is lost',
        'memory is bounded by thread: whoever takes more fails alone, and the process lives',
      ],
      'rendering/render.test.ts': ['that are not there fail, by name'],
      'delivery/prepare.test.ts': ['a template with %s ends its own send and no other'],
      'delivery/message.test.ts': ['%s makes no message'],
    },
    holds: [],
  },
  {
    id: 'F32',
    name: 'huge and hostile requests',
    elsewhere: 'at a door of its own',
    shown: {
      'http/connections.test.ts': ['chunks that break off in the middle of a request'],
      'http/failures.test.ts': [
        'connections that were cut while idle cost nobody a request for long',
      ],
      'hardening/limits.test.ts': [
        '415: a packed body is not unpacked, wherever one is not asked for',
        '413 body_too_large: a bomb is not unpacked past the bound',
        '408: who sends a byte now and then is not waited for',
        'at CONNECTIONS_MAX all are kept; one past it closes the one that waits longest',
        'what is not even HTTP costs a connection, and nothing else',
      ],
    },
    holds: ['I17'],
  },
  {
    id: 'F33',
    name: 'identity storms',
    elsewhere: 'of the same people: in the load each is asked for by one lane',
    shown: {
      'flows/any_order_in_processes.test.ts': [
        'two apis and two workers: a link that is undone was never there, whatever came at the same time',
        'two apis and two workers: in a storm of links and undoings every profile is the fold of its identities',
      ],
      'flows/erase_storm.test.ts': [
        'whatever happens at once is done or refused as documented, and who is erased at the end is gone',
      ],
    },
    holds: ['I3', 'I14', 'I15'],
  },
  {
    id: 'F34',
    name: 'erase races everything',
    elsewhere: LOAD,
    shown: {
      'flows/erase_storm.test.ts': [
        'whatever happens at once is done or refused as documented, and who is erased at the end is gone',
      ],
      'flows/erase_in_hand_off.test.ts': [
        'nothing is sent to anybody once their erase is acknowledged, beyond the hand-offs that had begun',
      ],
    },
    holds: ['I15'],
  },
  {
    id: 'F35',
    name: 'things revoked and deleted mid-flight',
    elsewhere: 'keys, providers, automations; what deletes a project: so far nothing does',
    shown: {
      'flows/two_apis.test.ts': [
        'a key that is revoked is refused by every process within a minute, and stays refused',
      ],
      'providers/records.test.ts': [
        '200: what is queued for it ends in view, leased or not; what another has stays',
      ],
      'automations/halted_mail.test.ts': [
        'POST pause 200: it waits, and says so, until the automation is resumed',
        'POST archive 200: it is cancelled, and not rendered',
      ],
      'delivery/halt_hand_offs.test.ts': [
        'one that is paused after the claim is not begun, whatever else keeps it',
      ],
      'automations/life_of_runs.test.ts': [
        'goes nowhere while its automation is paused, and on to its end once that is resumed',
      ],
    },
    holds: [],
  },
  {
    id: 'F36',
    name: 'partition missing',
    elsewhere: 'and migrations, which come while requests do',
    shown: {
      'ingest/keep_partitions.test.ts': ['a month that is missing in the middle is made again'],
      'flows/rolling_deploy.test.ts': [
        'a rolling deploy under load: nobody is refused, nothing is unknown, and every mail goes out once',
      ],
    },
    holds: [],
  },
  {
    id: 'F37',
    name: 'backup restored',
    elsewhere: 'with each kind of backup',
    shown: {
      'flows/restore_drill.test.ts': [
        'nothing goes out until it is confirmed, nothing twice, and the erased stay erased',
      ],
    },
    holds: ['I15'],
  },
];

/** In words. */
export const sayElsewhere = ({
  elsewhere,
  shown,
}: Pick<Elsewhere, 'elsewhere' | 'shown'>): string =>
  [...Object.keys(shown).map((file) => `test/${file}`), elsewhere].join('; ');
