import { describe, expect, test } from 'vitest';
import { inSnapshot } from '../../src/automations/snapshot.ts';
import { inInstallation, inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { Refusal } from '../../src/base/refusal.ts';
import {
  outOfTurn,
  PUBLISHABLE_PART,
  SessionTurns,
  TURN_KINDS,
  TURNS_MAX,
  TURNS_OF_PROJECT_MAX,
  WAITING_MAX,
  WAITING_OF_PROJECT_MAX,
} from '../../src/base/session_turns.ts';
import type { TurnKind } from '../../src/base/session_turns.ts';
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
  const askOne = (project: string, kind: TurnKind = 'server'): Promise<void> => {
    const work = () => {
      begun.push(kind === 'server' ? project : `${project} page`);
      return new Promise<void>((resolve) => ends.push(resolve));
    };
    const asked = turns.of(kind).have(project, work);
    all.push(asked.catch(() => {}));
    return asked;
  };
  const ask = (project: string, count = 1, kind: TurnKind = 'server'): void => {
    for (let at = 0; at < count; at += 1) askOne(project, kind).catch(() => {});
  };
  /** Ends what began first. */
  const endOne = async (): Promise<void> => {
    ends.shift()?.();
    await new Promise(setImmediate);
  };
  const endAll = async (): Promise<void> => {
    while (ends.length > 0) await endOne();
    await Promise.all(all);
    expect([turns.heldCount, turns.waitingCount]).toEqual([0, 0]);
    expect(TURN_KINDS.map((kind) => turns.mostWaiting(kind))).toEqual([0, 0]);
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
  expect([turns.mostWaiting('server'), turns.waitingCount]).toEqual([
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

const PAGES_MAX = TURNS_MAX * PUBLISHABLE_PART;
const PAGES_OF_PROJECT_MAX = Math.floor(TURNS_OF_PROJECT_MAX * PUBLISHABLE_PART);

describe('a flood of publishable requests', () => {
  test('holds at most half of the sessions of a project; its server key has the rest at once', async () => {
    const { turns, begun, ask, endAll } = play();
    ask('hot', 100, 'publishable');
    expect(turns.count('publishable')).toEqual({
      held: PAGES_OF_PROJECT_MAX,
      waiting: 100 - PAGES_OF_PROJECT_MAX,
    });
    const servers = TURNS_OF_PROJECT_MAX - PAGES_OF_PROJECT_MAX;
    expect(servers).toBeGreaterThanOrEqual(TURNS_OF_PROJECT_MAX / 2);
    ask('hot', servers);
    expect(begun.slice(PAGES_OF_PROJECT_MAX)).toEqual(Array(servers).fill('hot'));
    await endAll();
  });

  test('of all projects holds at most half of the sessions of the process', async () => {
    const { turns, ask, endAll } = play();
    for (let at = 0; at < TURNS_MAX; at += 1) ask(`hot ${at}`, 10, 'publishable');
    expect(turns.count('publishable').held).toBe(PAGES_MAX);
    for (let at = 0; at < TURNS_MAX - PAGES_MAX; at += 1) ask(`server ${at}`);
    expect(turns.count('server')).toEqual({ held: TURNS_MAX - PAGES_MAX, waiting: 0 });
    await endAll();
  });

  test('waits in places of its own: one request past them is refused, and a server key still finds room', async () => {
    const { turns, ask, askOne, endAll } = play();
    const ofProject = WAITING_OF_PROJECT_MAX * PUBLISHABLE_PART;
    ask('hot', PAGES_OF_PROJECT_MAX + ofProject, 'publishable');
    expect(turns.mostWaiting('publishable')).toBe(ofProject);
    expect(await refusalOf(askOne('hot', 'publishable'))).toEqual(OVERLOADED);
    const ofAll = WAITING_MAX * PUBLISHABLE_PART;
    for (let at = 0; at < ofAll / ofProject; at += 1) ask(`${at}`, 500, 'publishable');
    expect(turns.count('publishable').waiting).toBe(ofAll);
    expect(await refusalOf(askOne('one more', 'publishable'))).toEqual(OVERLOADED);
    ask('hot', TURNS_OF_PROJECT_MAX - PAGES_OF_PROJECT_MAX + WAITING_OF_PROJECT_MAX);
    expect(turns.mostWaiting('server')).toBe(WAITING_OF_PROJECT_MAX);
    expect(await refusalOf(askOne('hot'))).toEqual(OVERLOADED);
    await endAll();
  });

  test('and requests of a server key alternate where both wait', async () => {
    const { begun, ask, endAll } = play();
    ask('a', PAGES_OF_PROJECT_MAX, 'publishable');
    ask('a', TURNS_OF_PROJECT_MAX - PAGES_OF_PROJECT_MAX);
    ask('a', 3, 'publishable');
    ask('a', 3);
    await endAll();
    const then = begun.slice(TURNS_OF_PROJECT_MAX);
    expect(then.toSorted()).toEqual(['a', 'a', 'a', 'a page', 'a page', 'a page']);
    expect(new Set(then.slice(0, 4)).size).toBe(2);
  });
});

/** A repeatable sequence of numbers below a bound. */
const randomOf = (seed: number) => {
  let state = seed;
  return (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
};

test('in any order of requests: pages have at most half, and no session that is due stays free', async () => {
  for (let seed = 1; seed <= 40; seed += 1) {
    const random = randomOf(seed);
    const turns = new SessionTurns(LONG_MS);
    const held = new Map<string, number>();
    const waiting = new Map<string, number>();
    const ends: (() => void)[] = [];
    const add = (counts: Map<string, number>, name: string, by: number) =>
      counts.set(name, (counts.get(name) ?? 0) + by);
    const ask = (project: string, kind: TurnKind): void => {
      const name = `${project} ${kind}`;
      add(waiting, name, 1);
      const work = () => {
        add(waiting, name, -1);
        add(held, name, 1);
        return new Promise<void>((resolve) => {
          ends.push(() => {
            add(held, name, -1);
            resolve();
          });
        });
      };
      void turns.of(kind).have(project, work);
    };
    const of = (counts: Map<string, number>, project: string, kind: TurnKind) =>
      counts.get(`${project} ${kind}`) ?? 0;
    const projects = ['a', 'b', 'c', 'd'];
    const check = (): void => {
      const sum = (kind: TurnKind) =>
        projects.reduce((total, project) => total + of(held, project, kind), 0);
      expect(sum('publishable')).toBeLessThanOrEqual(PAGES_MAX);
      expect(sum('publishable') + sum('server')).toBeLessThanOrEqual(TURNS_MAX);
      for (const project of projects) {
        const pages = of(held, project, 'publishable');
        const all = pages + of(held, project, 'server');
        expect(pages).toBeLessThanOrEqual(PAGES_OF_PROJECT_MAX);
        expect(all).toBeLessThanOrEqual(TURNS_OF_PROJECT_MAX);
        const isFree = sum('publishable') + sum('server') < TURNS_MAX && all < TURNS_OF_PROJECT_MAX;
        const isFreeForPages =
          isFree && pages < PAGES_OF_PROJECT_MAX && sum('publishable') < PAGES_MAX;
        if (isFree) expect(of(waiting, project, 'server'), `seed ${seed}`).toBe(0);
        if (isFreeForPages) expect(of(waiting, project, 'publishable'), `seed ${seed}`).toBe(0);
      }
    };
    for (let step = 0; step < 150; step += 1) {
      if (random(2) === 0)
        ask(projects[random(4)] ?? '', random(3) === 0 ? 'server' : 'publishable');
      else ends.splice(random(Math.max(1, ends.length)), 1)[0]?.();
      await new Promise(setImmediate);
      check();
    }
    while (ends.length > 0) {
      ends.shift()?.();
      await new Promise(setImmediate);
    }
    expect([turns.heldCount, turns.waitingCount]).toEqual([0, 0]);
  }
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
