const LOAD = 'the load itself';

/** What is not brought about on its own here: where it is shown instead, or why it is not. */
export const shownElsewhere = [
  {
    id: 'F17',
    name: 'disk full, data volume',
    elsewhere: 'test/fault/full_disk.test.ts, in a namespace of mounts',
    holds: ['I1'],
  },
  {
    id: 'F18',
    name: 'disk full, log volume',
    elsewhere: 'test/fault/full_disk.test.ts; once the server is back it is F12',
    holds: ['I1', 'I10'],
  },
  {
    id: 'F24',
    name: 'wrong certificates, STARTTLS stripped',
    elsewhere: 'test/providers/smtp.test.ts, test/providers/hostile_smtp.test.ts',
    holds: [],
  },
  {
    id: 'F25',
    name: 'slow name lookup',
    elsewhere: 'test/base/resolve_host.test.ts',
    holds: [],
  },
  {
    id: 'F27',
    name: 'webhooks duplicated and shuffled',
    elsewhere: `${LOAD}, which repeats each; test/feedback/any_order.test.ts`,
    holds: ['I12'],
  },
  {
    id: 'F28',
    name: 'webhook before our outcome commit',
    elsewhere: 'test/feedback/before_outcome.test.ts',
    holds: ['I7', 'I12'],
  },
  {
    id: 'F29',
    name: 'suppression races hand-off',
    elsewhere: `${LOAD}; test/delivery/stop_hand_offs.test.ts`,
    holds: ['I8', 'I9'],
  },
  {
    id: 'F30',
    name: 'poison event',
    elsewhere: `${LOAD}; test/ingest/poison_row.test.ts, test/ingest/poison_event.test.ts`,
    holds: ['I2'],
  },
  {
    id: 'F31',
    name: 'poison template',
    elsewhere: 'test/rendering/threads.test.ts',
    holds: [],
  },
  {
    id: 'F32',
    name: 'huge and hostile requests',
    elsewhere: 'test/http/connections.test.ts, test/http/failures.test.ts',
    holds: ['I17'],
  },
  {
    id: 'F33',
    name: 'identity storms',
    elsewhere: `${LOAD}; test/flows/any_order_in_processes.test.ts`,
    holds: ['I3', 'I14', 'I15'],
  },
  {
    id: 'F34',
    name: 'erase races everything',
    elsewhere: `${LOAD}; test/flows/erase_storm.test.ts, test/flows/erase_in_hand_off.test.ts`,
    holds: ['I15'],
  },
  {
    id: 'F35',
    name: 'things revoked and deleted mid-flight',
    elsewhere: 'test/flows/two_apis.test.ts, test/flows/leave_in_hand_off.test.ts',
    holds: [],
  },
  {
    id: 'F36',
    name: 'partition missing',
    elsewhere: 'test/ingest/keep_partitions.test.ts; migrations: test/flows/rolling_deploy.test.ts',
    holds: [],
  },
  {
    id: 'F37',
    name: 'backup restored',
    elsewhere: 'test/flows/restore_drill.test.ts',
    holds: ['I15'],
  },
] as const;
