import {
  answerBadly,
  crashPostgres,
  cutConnections,
  deploy,
  freezeWorker,
  killApi,
  killApiBeforeAnswer,
  killWorkerBeforeHint,
  killWorkers,
  lockRows,
  misbehave,
  movePostgres,
  restartPostgres,
  shiftClock,
  slowDatabase,
  stopAt,
  terminateBackends,
  throttle,
} from './injections.ts';
import type { Inject } from './injections.ts';
import { shownElsewhere } from './shown_elsewhere.ts';
import type { Elsewhere } from './shown_elsewhere.ts';

/** A row of §5 of the design. After every run all of §2 is judged; `holds` says what the fault is about. */
export type Fault = {
  id: string;
  name: string;
  holds: readonly string[];
  /** Tests that show it by itself, at an exact moment. */
  shown?: Elsewhere['shown'];
} & ({ how: string; inject: readonly Inject[] } | Pick<Elsewhere, 'elsewhere' | 'shown'>);

const injected: readonly Fault[] = [
  {
    id: 'F1',
    name: 'API killed while flushing',
    how: 'SIGKILL under load; clients repeat',
    inject: [killApi],
    holds: ['I1', 'I2', 'I11'],
  },
  {
    id: 'F2',
    name: 'API killed between commit and reply',
    how: 'the proxy loses the answer, SIGKILL',
    inject: [killApiBeforeAnswer],
    holds: ['I1'],
  },
  {
    id: 'F3',
    name: 'worker killed before planning commit',
    how: 'failpoint',
    inject: [stopAt('before_plan_commit')],
    holds: ['I3', 'I4', 'I10', 'I11'],
  },
  {
    id: 'F4',
    name: 'worker killed after planning, before its hint',
    how: 'SIGKILL when the proxy sees the hint',
    inject: [killWorkerBeforeHint],
    holds: ['I10'],
  },
  {
    id: 'F5',
    name: 'worker killed between hand-off and first byte',
    how: 'failpoints around the commit',
    inject: [stopAt('before_hand_off_commit'), stopAt('after_hand_off_commit')],
    holds: ['I5', 'I7'],
  },
  {
    id: 'F6',
    name: 'worker killed in the middle of the body',
    how: 'failpoint',
    inject: [stopAt('mid_body')],
    holds: ['I5', 'I6'],
  },
  {
    id: 'F7',
    name: 'worker killed after the provider said yes',
    how: 'failpoint',
    inject: [stopAt('after_provider_answer')],
    holds: ['I5'],
  },
  {
    id: 'F8',
    name: 'worker killed after the outcome commit',
    how: 'failpoint',
    inject: [stopAt('after_outcome_commit')],
    holds: ['I5'],
  },
  {
    id: 'F9',
    name: 'worker frozen',
    how: 'SIGSTOP for 6 to 20 s, SIGCONT',
    inject: [freezeWorker],
    shown: { 'worker/sweeper.test.ts': ['finds its deadline passed and does not send'] },
    holds: ['I5', 'I9'],
  },
  {
    id: 'F10',
    name: 'both workers killed repeatedly',
    how: 'SIGKILL every 2 to 5 s',
    inject: [killWorkers],
    holds: ['I4', 'I5', 'I10'],
  },
  {
    id: 'F11',
    name: 'graceful stop and deploy',
    how: 'SIGTERM to one process after the other',
    inject: [deploy],
    holds: ['I1', 'I5'],
  },
  {
    id: 'F12',
    name: 'Postgres crash',
    how: 'immediate stop, up to 3 s down',
    inject: [crashPostgres],
    holds: ['I1', 'I10'],
  },
  {
    id: 'F13',
    name: 'Postgres restart, failover to new address',
    how: 'fast stop, up to 3 s down, then at the same port or at another behind the proxies',
    inject: [restartPostgres, movePostgres],
    holds: ['I1', 'I10'],
  },
  {
    id: 'F14',
    name: 'all connections cut',
    how: 'backends terminated, or the proxy resets',
    inject: [terminateBackends, cutConnections],
    holds: ['I1'],
  },
  {
    id: 'F15',
    name: 'slow database',
    how: 'the proxy adds 200 ms and lets 512 KiB/s through',
    inject: [slowDatabase],
    holds: ['I1', 'I4', 'I17'],
  },
  {
    id: 'F16',
    name: 'lock held',
    how: "another session locks one project's addresses",
    inject: [lockRows],
    shown: {
      'flows/held_row.test.ts': [
        'a neighbour of a project whose requests all wait for one row is answered, and they are refused',
      ],
    },
    holds: ['I8', 'I10'],
  },
  {
    id: 'F19',
    name: 'provider refuses connections',
    how: 'the relay cuts, refuses or keeps silent at connect',
    inject: [misbehave('connect', 'drop', { code: 421 }, 'hang')],
    holds: ['I5', 'I10'],
  },
  {
    id: 'F20',
    name: 'provider hangs after the end of a message',
    how: 'no answer for 10 s',
    inject: [misbehave('end', 'hang')],
    shown: {
      'flows/hanging_relay.test.ts': [
        'a relay that hangs takes one place of a worker at most: other projects’ events are processed meanwhile',
      ],
    },
    holds: ['I5', 'I7'],
  },
  {
    id: 'F21',
    name: 'provider answers slowly, takes the body slowly',
    how: 'some hundred bytes a second, late answers',
    inject: [misbehave('body', { bytesPerSecond: 400 }), misbehave('data', { delayMs: 4_000 })],
    holds: ['I5', 'I9'],
  },
  {
    id: 'F22',
    name: 'provider says slower',
    how: '421, 451, 454, 429 with and without Retry-After',
    inject: [throttle],
    holds: ['I5', 'I10'],
  },
  {
    id: 'F23',
    name: 'provider answers badly',
    how: '5xx, cut, truncated and endless answers',
    inject: [answerBadly],
    holds: ['I5', 'I6', 'I17'],
  },
  {
    id: 'F26',
    name: 'clock jumps',
    how: 'a process whose clock is a day before or behind, or half as fast again, until it is replaced',
    inject: [
      shiftClock('worker', 1),
      shiftClock('worker', -1),
      shiftClock('api', 1),
      shiftClock('api', -1),
      shiftClock('worker', 0, 0.5),
      shiftClock('api', 0, -0.5),
    ],
    holds: ['I7', 'I8', 'I10'],
  },
];

const numberOf = ({ id }: Fault): number => Number(id.slice(1));

/** F1 to F37, in order. */
export const faults: readonly Fault[] = [...injected, ...shownElsewhere].toSorted(
  (one, other) => numberOf(one) - numberOf(other),
);

/** Several faults under one name. */
export const schedules: Record<string, readonly string[]> = { kills: ['F10', 'F12', 'F14'] };
