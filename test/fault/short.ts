import type { Fault } from './faults.ts';
import { crashPostgres, killApi, killWorker } from './injections.ts';
import type { Inject } from './injections.ts';

/** The shortest schedule that still crashes each part of the house: each of these once, in an order of the seed. */
export const shortest: readonly (Fault & { inject: readonly Inject[] })[] = [
  {
    id: 'F1',
    name: 'API killed while flushing',
    how: 'SIGKILL under load; clients repeat',
    inject: [killApi],
    holds: ['I1', 'I2', 'I11'],
  },
  {
    id: 'F10',
    name: 'worker killed',
    how: 'SIGKILL, once',
    inject: [killWorker],
    holds: ['I4', 'I5', 'I10'],
  },
  {
    id: 'F12',
    name: 'Postgres crash',
    how: 'immediate stop, up to 3 s down',
    inject: [crashPostgres],
    holds: ['I1', 'I10'],
  },
];
