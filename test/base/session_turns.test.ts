import { expect, test } from 'vitest';
import { inSnapshot } from '../../src/automations/snapshot.ts';
import { inInstallation, inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { Refusal } from '../../src/base/refusal.ts';
import {
  outOfTurn,
  SessionTurns,
  TURNS_MAX,
  TURNS_OF_PROJECT_MAX,
  WAITING_MAX,
  WAITING_OF_PROJECT_MAX,
} from '../../src/base/session_turns.ts';
import { testDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';

const database = testDatabase();

/** Longer than any test. */
const LONG_MS = 600_000;

/** Turns, and work in them that ends when it is told to. */
const play = (turns = new SessionTurns(LONG_MS)) => {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const all: Promise<unknown>[] = [];
  const askOne = (project: string): Promise<void> => {
    const asked = turns.have(project, () => {
      begun.push(project);
      return new Promise<void>((resolve) => ends.push(resolve));
    });
    all.push(asked.catch(() => {}));
    return asked;
  };
  const ask = (project: string, count = 1): void => {
    for (let at = 0; at < count; at += 1) askOne(project).catch(() => {});
  };
  /** Ends what began first. */
  const endOne = async (): Promise<void> => {
    ends.shift()?.();
    await new Promise(setImmediate);
  };
  const endAll = async (): Promise<void> => {
    while (ends.length > 0) await endOne();
    await Promise.all(all);
    expect([turns.heldCount, turns.waitingCount, turns.mostWaiting]).toEqual([0, 0, 0]);
  };
  return { turns, begun, ask, askOne, endOne, endAll };
};

const refusalOf = async (asked: Promise<unknown>): Promise<unknown> => {
  const error = await asked.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  return error instanceof Refusal && [error.reason, error.extras.retryAfterSeconds];
};
const OVERLOADED = ['overloaded', expect.any(Number)];

test('a project has a part of the sessions, and its next request what is given back', async () => {
  const { turns, begun, ask, endOne, endAll } = play();
  ask('hot', TURNS_OF_PROJECT_MAX + 3);
  expect([begun.length, turns.waitingCount]).toEqual([TURNS_OF_PROJECT_MAX, 3]);
  ask('quiet');
  expect(begun.at(-1)).toBe('quiet');
  await endOne();
  expect(begun.slice(TURNS_OF_PROJECT_MAX)).toEqual(['quiet', 'hot']);
  await endAll();
  expect(begun).toHaveLength(TURNS_OF_PROJECT_MAX + 4);
});

test('of several projects that wait each has one in turn', async () => {
  const { turns, begun, ask, endAll } = play();
  ask('a', TURNS_OF_PROJECT_MAX);
  ask('b', TURNS_MAX - TURNS_OF_PROJECT_MAX);
  expect(turns.heldCount).toBe(TURNS_MAX);
  ask('c', 4);
  ask('d', 2);
  ask('e', 1);
  expect(begun).toHaveLength(TURNS_MAX);
  await endAll();
  expect(begun.slice(TURNS_MAX)).toEqual(['c', 'd', 'e', 'c', 'd', 'c', 'c']);
});

test('as many wait as may, of a project and of all; one more is refused at once', async () => {
  const { turns, ask, askOne, endAll } = play();
  ask('a', TURNS_OF_PROJECT_MAX + WAITING_OF_PROJECT_MAX);
  expect([turns.mostWaiting, turns.waitingCount]).toEqual([
    WAITING_OF_PROJECT_MAX,
    WAITING_OF_PROJECT_MAX,
  ]);
  expect(await refusalOf(askOne('a'))).toEqual(OVERLOADED);
  ask('b', TURNS_MAX - TURNS_OF_PROJECT_MAX + WAITING_OF_PROJECT_MAX);
  const others = Math.ceil(WAITING_MAX / WAITING_OF_PROJECT_MAX) - 2;
  for (let at = 0; at < others; at += 1) ask(`other ${at}`, WAITING_OF_PROJECT_MAX);
  expect(turns.waitingCount).toBe(WAITING_MAX);
  expect(await refusalOf(askOne('one more'))).toEqual(OVERLOADED);
  await endAll();
});

test('whoever waits too long is refused, and has no turn afterwards', async () => {
  const { turns, begun, ask, askOne, endAll } = play(new SessionTurns(1));
  ask('a', TURNS_OF_PROJECT_MAX);
  expect(await refusalOf(askOne('a'))).toEqual(OVERLOADED);
  expect(turns.waitingCount).toBe(0);
  await endAll();
  expect(begun).toHaveLength(TURNS_OF_PROJECT_MAX);
});

test('work that fails gives its turn back', async () => {
  const turns = new SessionTurns();
  const failing = turns.have('a', () => Promise.reject(new Error('failed')));
  await expect(failing).rejects.toThrow('failed');
  expect(turns.heldCount).toBe(0);
});

test('whatever takes a session for what is asked from outside takes a turn; what is out of turn does not', async () => {
  const turns = new SessionTurns(1);
  const deps = { ...database.deps, turns };
  const held = () => Promise.resolve(turns.heldCount);
  const ways = (from: typeof database.deps) => [
    () => inProject(from, newId(), held),
    () => inSnapshot(from, newId(), held),
    () => inInstallation(from, held),
  ];
  const inEach = async (from: typeof database.deps) => {
    const counts: number[] = [];
    for (const ask of ways(from)) counts.push(await ask());
    return counts;
  };
  expect(await inEach(deps)).toEqual([1, 1, 1]);
  expect(await inEach(outOfTurn(deps))).toEqual([0, 0, 0]);
  const { promise, resolve } = Promise.withResolvers<void>();
  const all = Array.from({ length: TURNS_MAX }, (_, at) => turns.have(`${at}`, () => promise));
  for (const ask of ways(deps)) expect(await refusalOf(ask())).toEqual(OVERLOADED);
  expect(await inEach(outOfTurn(deps))).toEqual([TURNS_MAX, TURNS_MAX, TURNS_MAX]);
  resolve();
  await Promise.all(all);
  await until('all are back', () => turns.heldCount === 0);
});
