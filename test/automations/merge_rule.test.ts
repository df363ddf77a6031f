// Which of two runs of one person ends after a merge, by the re-entry rule and the order of their enrollments.
import { describe, expect, test } from 'vitest';
import { decideMerges } from '../../src/automations/merges/decide.ts';
import type { Candidate } from '../../src/automations/merges/decide.ts';
import { areExclusive, findBlocking, isOlder } from '../../src/automations/merges/rule.ts';
import type { OtherRun } from '../../src/automations/merges/rule.ts';
import type { ReEntry } from '../../src/automations/schema.ts';

const DAY_MS = 86_400_000;
const BEGAN = new Date('2026-06-01T12:00:00Z').getTime();

/** A run of an identity that began some days after the first moment. */
const runAt = (
  identity_id: string,
  days: number,
  given: Partial<Candidate> = {},
): Candidate & OtherRun => ({
  run_id: `${identity_id}${days}`,
  identity_id,
  started_at: new Date(BEGAN + days * DAY_MS),
  entry_key: `once/${identity_id}`,
  outcome: null,
  isOpen: true,
  mergedInto: null,
  ...given,
});
const ended = (outcome: string): Partial<Candidate> => ({ isOpen: false, outcome });
const merged = (mergedInto: string): Partial<Candidate> => ({ ...ended('merged'), mergedInto });
const bought = (identity: string, digest: string): Partial<Candidate> => ({
  entry_key: `property/${identity}/${digest}`,
});

const decide = (reEntry: ReEntry, ...runs: Candidate[]) => {
  const { merges, moves, restores } = decideMerges(runs, {
    reEntryOf: () => reEntry,
    othersOf: () => runs,
  });
  const told = (some: typeof merges) => some.map(({ runId, intoRunId }) => [runId, intoRunId]);
  return { merges: told(merges), moves: told(moves), restores: told(restores) };
};
const NOTHING = { merges: [], moves: [], restores: [] };

describe('which runs exclude each other', () => {
  const a = runAt('a', 0);
  const b = runAt('b', 3);

  test('once: any two of different identities; every_time: none', () => {
    expect(areExclusive('once', b, a)).toBe(true);
    expect(areExclusive('every_time', b, a)).toBe(false);
  });

  test('two runs of one identity never do: the rule let both in', () => {
    expect(areExclusive('once', runAt('a', 3), a)).toBe(false);
  });

  test('once_per: only within the duration, in either order', () => {
    const within = { once_per: 'P3D' };
    expect(areExclusive(within, b, a)).toBe(false);
    const longer = { once_per: 'PT72H1S' };
    expect([areExclusive(longer, b, a), areExclusive(longer, a, b)]).toEqual([true, true]);
    // A month of a calendar.
    expect(areExclusive({ once_per: 'P1M' }, runAt('b', 29), a)).toBe(true);
    expect(areExclusive({ once_per: 'P1M' }, runAt('b', 30), a)).toBe(false);
  });

  test('by_property: only by the same value', () => {
    const rule = { by_property: 'order' };
    const one = runAt('a', 0, bought('a', 'x'));
    expect(areExclusive(rule, runAt('b', 1, bought('b', 'x')), one)).toBe(true);
    expect(areExclusive(rule, runAt('b', 1, bought('b', 'y')), one)).toBe(false);
    // A run of a version with another rule says no value.
    expect(areExclusive(rule, b, one)).toBe(false);
    expect(areExclusive(rule, runAt('b', 1, bought('b', 'x')), a)).toBe(false);
  });
});

test('of two runs of one moment the one with the smaller id is the older', () => {
  const [one, other] = [runAt('a', 0), runAt('b', 0)];
  expect([isOlder(one, other), isOlder(other, one)]).toEqual([true, false]);
});

test('a run that ended as merged leaves room, any other run does not', () => {
  const run = runAt('b', 3);
  expect(findBlocking('once', run, [runAt('a', 0, merged('z'))])).toBeNull();
  for (const outcome of ['completed', 'held_out', 'expired', 'unsubscribed', null])
    expect(findBlocking('once', run, [runAt('a', 0, { outcome })])?.run_id).toBe('a0');
  expect(findBlocking('once', run, [runAt('c', 1), runAt('a', 0)])?.run_id).toBe('a0');
});

describe('what is decided', () => {
  test('the younger of two ends as merged into the older', () => {
    const expected = { ...NOTHING, merges: [['b3', 'a0']] };
    expect(decide('once', runAt('a', 0), runAt('b', 3))).toEqual(expected);
    expect(decide('once', runAt('b', 3), runAt('a', 0))).toEqual(expected);
  });

  test('the younger ends where the older has ended, and the older stays where the younger has ended', () => {
    const expected = { ...NOTHING, merges: [['b3', 'a0']] };
    expect(decide('once', runAt('a', 0, ended('completed')), runAt('b', 3))).toEqual(expected);
    expect(decide('once', runAt('a', 0), runAt('b', 3, ended('completed')))).toEqual(NOTHING);
  });

  test('of three all but the oldest end, each as merged into the oldest', () => {
    expect(decide('once', runAt('a', 1), runAt('b', 0), runAt('c', 2))).toEqual({
      ...NOTHING,
      merges: [
        ['a1', 'b0'],
        ['c2', 'b0'],
      ],
    });
  });

  test('once_per: what ends leaves room for one after it', () => {
    const rule = { once_per: 'P7D' };
    expect(decide(rule, runAt('a', 0), runAt('b', 5), runAt('a', 9))).toEqual({
      ...NOTHING,
      merges: [['b5', 'a0']],
    });
  });

  test('a merged run is restored where nothing blocks it, and blocks younger runs then', () => {
    const [b, c] = [runAt('b', 3, merged('a0')), runAt('c', 5, merged('a0'))];
    expect(decide('once', b, c)).toEqual({
      merges: [],
      moves: [['c5', 'b3']],
      restores: [['b3', 'a0']],
    });
  });

  test('a merged run stays so where another run blocks it, and follows that one', () => {
    const b = runAt('b', 3, merged('a0'));
    expect(decide('once', runAt('z', 1), b)).toEqual({ ...NOTHING, moves: [['b3', 'z1']] });
    expect(decide('once', runAt('a', 0), b)).toEqual(NOTHING);
  });

  test('a merged run that cannot continue stays ended', () => {
    expect(decide('once', runAt('b', 3, ended('merged')))).toEqual(NOTHING);
  });

  test('the same again decides nothing more', () => {
    const after = [runAt('a', 0), runAt('b', 3, merged('a0')), runAt('c', 4, merged('a0'))];
    expect(decide('once', ...after)).toEqual(NOTHING);
  });
});
