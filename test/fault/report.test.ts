// What breaks a promise without breaking an invariant of the database is told all the same.
import { expect, test } from 'vitest';
import { noSamples } from './evidence.ts';
import { Journal } from './journal.ts';
import { listBroken } from './report.ts';
import type { Ran } from './run.ts';

const held = (): Ran => ({
  verdicts: [],
  injected: new Map([['F1', { times: 1, recoveredMs: [1_000] }]]),
  journal: new Journal(),
  samples: noSamples(),
  ownEnds: [],
  complaints: new Map(),
  lostInDeploys: [],
  wrong: [],
  messages: 1,
  sends: new Map(),
  idleAfterMs: 0,
  startedProcesses: 4,
});

test('a run in which everything held has nothing to tell', () => {
  expect(listBroken(held())).toEqual([]);
});

test.each<[string, Partial<Ran>, string]>([
  [
    'a sign-up whose mail did not go out after a fault',
    { injected: new Map([['F1', { times: 2, recoveredMs: [10, null] }]]) },
    'F1: the mail of a sign-up after it did not go out',
  ],
  [
    'a fault that had its turn and never came about',
    { injected: new Map([['F3', { times: 0, recoveredMs: [10] }]]) },
    'every fault that had its turn came about: F3',
  ],
  [
    'work that went on too late',
    { injected: new Map([['F1', { times: 1, recoveredMs: [60_001] }]]) },
    'F1: 60.0 s',
  ],
  ['a process that ended by itself', { ownEnds: ['api 1: 1: bad'] }, 'api 1: 1: bad'],
  [
    'an invariant that does not hold',
    { verdicts: [{ id: 'I1', text: 'so', broken: ['it is not'] }] },
    'I1 it is not',
  ],
])('%s is told', (_what, ran, said) => {
  expect(listBroken({ ...held(), ...ran })).toEqual([expect.stringContaining(said)]);
});
