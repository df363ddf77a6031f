// An end that nobody asked for is told; of a fault that takes away what a process lives by, only one without a word.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { testWorld } from '../support/world.ts';
import { Slot } from './slot.ts';

const TIMEOUT_MS = 60_000;

const world = testWorld();
let slot: Slot;

beforeAll(async () => {
  const env = { ...world.env, ROLE: 'worker', LOG_LEVEL: 'info' };
  slot = await new Slot({ name: 'worker', env, onLine: () => {} }).open();
}, TIMEOUT_MS);
afterAll(() => slot.close());
beforeEach(() => void slot.ownEnds.splice(0));

/** Whatever ends it, the next is in its place. */
const replaced = async (how: () => unknown): Promise<void> => {
  const { starts } = slot;
  await how();
  await until('another process is in its place', () => slot.starts > starts);
};

/** As a fault does: the server ends the sessions that its workers live by. */
const endSessions = () =>
  world.owner.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = 'trunkline-liveness' and datname = current_database()`,
  );

test('an end of its own is told', { timeout: TIMEOUT_MS }, async () => {
  await replaced(endSessions);
  expect(slot.ownEnds).toEqual(['1: liveness connection lost']);
});

test('also after a fault that it had to notice, and did not', { timeout: TIMEOUT_MS }, async () => {
  slot.expectEnd(Infinity);
  slot.expectEnd(0);
  await replaced(endSessions);
  expect(slot.ownEnds).toHaveLength(1);
});

test('one that was to be expected is not', { timeout: TIMEOUT_MS }, async () => {
  slot.expectEnd(Infinity);
  await replaced(endSessions);
  slot.expectEnd(0);
  expect(slot.ownEnds).toEqual([]);
});

test(
  'a crash is told also while an end in order is expected',
  { timeout: TIMEOUT_MS },
  async () => {
    slot.expectEnd(Infinity);
    await replaced(() => slot.signal('SIGKILL'));
    slot.expectEnd(0);
    expect(slot.ownEnds).toEqual(['SIGKILL: silent']);
  },
);

test('unless it was to be expected itself', { timeout: TIMEOUT_MS }, async () => {
  slot.expectEnd(Infinity, 'anyhow');
  await replaced(() => slot.signal('SIGKILL'));
  slot.expectEnd(0);
  expect(slot.ownEnds).toEqual([]);
});

test(
  'nor one that was asked for, and that forgives no other',
  { timeout: TIMEOUT_MS },
  async () => {
    await replaced(() => slot.end('SIGKILL'));
    expect(slot.ownEnds).toEqual([]);
    await replaced(() => slot.signal('SIGKILL'));
    expect(slot.ownEnds).toHaveLength(1);
  },
);
