import { describe, expect, test } from 'vitest';
import { lanesOfPages, TRACKED_PER_LANE_MAX, Turn } from '../../src/delivery/turn.ts';
import { Turns } from '../../src/delivery/turns.ts';

const LANES = 2;
const FOREVER_MS = 10_000;

/** A turn whose items end when the test says so. */
const heldTurn = () => {
  const begun: { item: number; end: () => void }[] = [];
  const turn = new Turn<number, null>(
    null,
    LANES,
    (item) =>
      new Promise((resolve) => {
        begun.push({ item, end: resolve });
      }),
  );
  return { begun, turn };
};
const remind = (): void => {};
const ended = <T>(turn: Turn<T, null>) => turn.when(() => turn.isIdle, FOREVER_MS);

describe('a turn', () => {
  test('hands over so many at a time, the rest one after the other', async () => {
    const { begun, turn } = heldTurn();
    turn.add([1, 2, 3]);
    expect(begun.map(({ item }) => item)).toEqual([1, 2]);
    expect([turn.hasRoom, turn.waitingCount]).toEqual([false, 1]);
    begun[0]?.end();
    await turn.when(() => begun.length === 3, FOREVER_MS);
    for (const { end } of begun) end();
    expect(await ended(turn)).toBe(true);
  });

  test.each([
    [1, 1],
    [2, 1],
    [5, 4],
    [10, 8],
  ])('of %i lanes %i are for what a page caused', (lanes, ofPages) => {
    expect(lanesOfPages(lanes)).toBe(ofPages);
  });

  test('leaves a fifth of the lanes to what no page caused', async () => {
    const begun: { item: string; end: () => void }[] = [];
    const work = (item: string) =>
      new Promise<void>((resolve) => void begun.push({ item, end: resolve }));
    const isOfPage = (item: string) => item.startsWith('page');
    const turn = new Turn<string, null>(null, 5, work, { isOfPage });
    turn.add(Array.from({ length: 9 }, (_, at) => `page ${at}`));
    expect(begun.map(({ item }) => item)).toEqual(['page 0', 'page 1', 'page 2', 'page 3']);
    turn.add(['order 0', 'order 1']);
    expect(begun.map(({ item }) => item).slice(4)).toEqual(['order 0']);
    begun[4]?.end();
    await turn.when(() => begun.length === 6, FOREVER_MS);
    expect(begun.at(-1)?.item).toBe('order 1');
    begun[0]?.end();
    await turn.when(() => begun.length === 7, FOREVER_MS);
    expect(begun.at(-1)?.item).toBe('page 4');
    const endAll = setInterval(() => begun.splice(0).forEach(({ end }) => end()), 1);
    expect(await ended(turn)).toBe(true);
    clearInterval(endAll);
  });

  test('of items that wait, counts as urgent none that a page caused', () => {
    const turn = new Turn<string, null>(null, 1, () => new Promise(() => {}), {
      isOfPage: (item) => item.startsWith('page'),
      isUrgent: (item) => item.endsWith('!'),
    });
    turn.add(['a', 'page 1!', 'page 2!', 'page 3', 'b']);
    expect([turn.waitingCount, turn.urgentCount]).toEqual([4, 0]);
    turn.add(['c!']);
    expect([turn.urgentCount, turn.waits]).toEqual([1, { ofPages: true, others: true }]);
  });

  test('begins each item at its moment, an urgent one at the next', async () => {
    const begun: number[] = [];
    const turn = new Turn<number, null>(
      null,
      LANES,
      (item) => Promise.resolve(void begun.push(item)),
      { isUrgent: (item) => item < 0 },
    );
    const startsAt = performance.now() + 20;
    turn.add([1, 2, 3], (at) => startsAt + at * 20);
    expect([begun, turn.waitingCount, turn.hasRoom]).toEqual([[], 3, false]);
    turn.add([-1], () => startsAt + 60);
    await ended(turn);
    expect(begun).toEqual([-1, 1, 2, 3]);
    expect(performance.now()).toBeGreaterThanOrEqual(startsAt + 60);
  });

  test('begins all at once when the worker stops, so that they are released', async () => {
    const begun: number[] = [];
    const stopping = new AbortController();
    const turn = new Turn<number, null>(
      null,
      LANES,
      (item) => Promise.resolve(void begun.push(item)),
      { signal: stopping.signal },
    );
    turn.add([1, 2], () => performance.now() + FOREVER_MS);
    stopping.abort();
    await ended(turn);
    expect(begun).toEqual([1, 2]);
  });

  test('gives back what was not begun', () => {
    const { begun, turn } = heldTurn();
    turn.add([1, 2, 3, 4]);
    expect(turn.drain()).toEqual([3, 4]);
    expect(begun).toHaveLength(2);
  });

  test('does not end before what it tracks, and holds no lane for it', async () => {
    const { turn } = heldTurn();
    const { promise, reject } = Promise.withResolvers<void>();
    turn.track(promise);
    expect([turn.isIdle, turn.hasRoom]).toEqual([false, true]);
    reject(new Error('not written'));
    await ended(turn);
    expect(turn.takeErrors()).toEqual([new Error('not written')]);
    expect(turn.takeErrors()).toEqual([]);
  });

  test('begins nothing while too much that it tracks has not ended', async () => {
    const { begun, turn } = heldTurn();
    const written = Promise.withResolvers<void>();
    for (let at = 0; at < TRACKED_PER_LANE_MAX * LANES; at += 1) turn.track(written.promise);
    turn.add([1]);
    expect(begun).toEqual([]);
    expect(turn.load).toEqual({ busy: 0, waiting: 1, tracked: TRACKED_PER_LANE_MAX * LANES });
    written.resolve();
    await turn.when(() => begun.length === 1, FOREVER_MS);
    begun[0]?.end();
    expect(await ended(turn)).toBe(true);
  });

  test('tracks no more than it may, whenever what is tracked began', async () => {
    const { begun, turn } = heldTurn();
    const written = Promise.withResolvers<void>();
    const most = TRACKED_PER_LANE_MAX * LANES;
    for (let at = 0; at < most - 1; at += 1) turn.track(written.promise);
    turn.add([1, 2]);
    for (const { end } of begun) {
      turn.track(written.promise);
      end();
    }
    await turn.when(() => turn.load.busy === 0, FOREVER_MS);
    expect(turn.load).toEqual({ busy: 0, waiting: 1, tracked: most });
    written.resolve();
    await turn.when(() => begun.length === 2, FOREVER_MS);
    begun[1]?.end();
    expect(await ended(turn)).toBe(true);
  });

  test('waits no longer than it is told', async () => {
    const { turn } = heldTurn();
    turn.add([1]);
    expect(await turn.when(() => turn.isIdle, 1)).toBe(false);
  });
});

describe('whoever feeds a turn', () => {
  const STALL_MS = 50;

  test('stays for as long as anything ends, however long that is', async () => {
    const { begun, turn } = heldTurn();
    turn.add([1, 2, 3, 4, 5]);
    const ending = setInterval(() => begun.shift()?.end(), STALL_MS / 5);
    const isDone = await turn.whileItGoesOn(() => turn.isIdle, FOREVER_MS, STALL_MS);
    clearInterval(ending);
    expect(isDone).toBe(true);
  });

  test('leaves when nothing has ended for a while', async () => {
    const { turn } = heldTurn();
    turn.add([1, 2, 3]);
    expect(await turn.whileItGoesOn(() => turn.isIdle, FOREVER_MS, STALL_MS)).toBe(false);
    expect(turn.waitingCount).toBe(1);
  });

  test('leaves when its time is over, whatever ends', async () => {
    const { begun, turn } = heldTurn();
    turn.add(Array.from({ length: 1_000 }, (_, at) => at));
    const ending = setInterval(() => begun.shift()?.end(), 1);
    expect(await turn.whileItGoesOn(() => turn.isIdle, STALL_MS, STALL_MS)).toBe(false);
    clearInterval(ending);
  });
});

describe('turns', () => {
  const open = (fedMax = 1) => {
    const late: unknown[] = [];
    const turns = new Turns<number, null>({ fedMax, onLate: (turn) => late.push(turn) });
    return { late, turns };
  };

  test('one feeds a turn at a time; whoever comes meanwhile makes it look again', async () => {
    const { turns } = open(2);
    const { turn } = heldTurn();
    const makeTurn = () => turn;
    const answer = await turns.feed('a', {
      makeTurn,
      remind,
      feed: async () => {
        expect(await turns.feed('a', { makeTurn, remind, feed: () => Promise.resolve(1) })).toBe(
          null,
        );
        return turn.isAskedAgain;
      },
    });
    expect(answer).toBe(true);
  });

  test('so many are fed at a time, and no more', async () => {
    const { turns } = open();
    const feed = () => Promise.resolve(true);
    const inner = await turns.feed('a', {
      makeTurn: () => heldTurn().turn,
      remind,
      feed: () => turns.feed('b', { makeTurn: () => heldTurn().turn, remind, feed }),
    });
    expect(inner).toBe(null);
    expect(await turns.feed('b', { makeTurn: () => heldTurn().turn, remind, feed })).toBe(true);
  });

  test('a turn that hangs takes nobody’s place, and says when it has ended', async () => {
    const { turns, late } = open();
    const { begun, turn } = heldTurn();
    const add = (one: Turn<number, null>) => {
      one.add([1, 2]);
      return Promise.resolve(true);
    };
    await turns.feed('hangs', { makeTurn: () => turn, remind, feed: add });
    expect(await turns.feed('hangs', { makeTurn: () => turn, remind, feed: add })).toBe(null);
    expect(
      await turns.feed('other', {
        makeTurn: () => heldTurn().turn,
        remind,
        feed: () => Promise.resolve('fed'),
      }),
    ).toBe('fed');
    for (const { end } of begun) end();
    await turns.close();
    expect(late).toEqual([turn]);
  });

  test('a turn that was left with work says when it could do more, and when it has ended', async () => {
    const { turns, late } = open();
    const { begun, turn } = heldTurn();
    const feed = (one: Turn<number, null>) => {
      one.add([1, 2, 3]);
      return Promise.resolve(true);
    };
    await turns.feed('slow', { makeTurn: () => turn, remind, feed });
    begun[0]?.end();
    await turn.when(() => begun.length === 3, FOREVER_MS);
    expect(late).toEqual([]);
    begun[1]?.end();
    await turn.when(() => turn.hasRoom, FOREVER_MS);
    await expect.poll(() => late).toEqual([turn]);
    begun[2]?.end();
    await expect.poll(() => late).toEqual([turn, turn]);
  });

  test('who found no place is reminded when there is one, the first first and each once', async () => {
    const { turns } = open();
    const reminded: string[] = [];
    const makeTurn = () => heldTurn().turn;
    const come = (name: string) =>
      turns.feed(name, {
        makeTurn,
        remind: () => reminded.push(name),
        feed: () => Promise.resolve(true),
      });
    await turns.feed('a', {
      makeTurn,
      remind,
      feed: async () => {
        for (const name of ['b', 'c', 'b']) expect(await come(name)).toBe(null);
        return true;
      },
    });
    expect(reminded).toEqual(['b']);
    await come('b');
    expect(reminded).toEqual(['b', 'c']);
    await come('c');
    expect(reminded).toEqual(['b', 'c']);
  });

  test('whoever feeds a turn is told at once when others want its place', async () => {
    const { turns } = open();
    const { turn } = heldTurn();
    const makeTurn = () => turn;
    const said = await turns.feed('slow', {
      makeTurn,
      remind,
      feed: async (one, isWanted) => {
        one.add([1, 2, 3]);
        const before = isWanted();
        const watching = one.when(isWanted, FOREVER_MS);
        await turns.feed('other', { makeTurn, remind, feed: () => Promise.resolve(true) });
        return [before, await watching];
      },
    });
    expect(said).toEqual([false, true]);
  });

  test('a hint that found all lanes busy is remembered until one is free', async () => {
    const { turns, late } = open();
    const { begun, turn } = heldTurn();
    const feed = (one: Turn<number, null>) => {
      one.add([1, 2]);
      return Promise.resolve(true);
    };
    await turns.feed('busy', { makeTurn: () => turn, remind, feed });
    expect(await turns.feed('busy', { makeTurn: () => turn, remind, feed })).toBe(null);
    begun[0]?.end();
    await expect.poll(() => late).toEqual([turn]);
  });

  test('a turn whose items of pages wait for their lanes is fed, and looks for no more by itself', async () => {
    const { turns, late } = open();
    const ends: (() => void)[] = [];
    const work = () => new Promise<void>((resolve) => void ends.push(resolve));
    const turn = new Turn<number, null>(null, LANES, work, { isOfPage: (item) => item > 0 });
    const feed = (items: number[]) =>
      turns.feed('pages', {
        makeTurn: () => turn,
        remind,
        feed: (one) => Promise.resolve(one.add(items)).then(() => one.load.busy),
      });
    expect(await feed([1, 2])).toBe(1);
    expect(late).toEqual([]);
    expect(await feed([-1])).toBe(2);
    expect(await feed([-2])).toBe(null);
    while (!turn.isIdle) {
      for (const end of ends.splice(0)) end();
      await turn.when(() => ends.length > 0 || turn.isIdle, FOREVER_MS);
    }
  });

  test('a turn that hangs is its provider’s only one, however quickly somebody feeds it', async () => {
    const { turns } = open();
    const { turn } = heldTurn();
    let made = 0;
    const makeTurn = () => {
      made += 1;
      return turn;
    };
    const feed = (one: Turn<number, null>) => {
      if (one.isIdle) one.add([1]);
      return Promise.resolve(true);
    };
    for (let times = 0; times < 3; times += 1)
      await turns.feed('hangs', { makeTurn, remind, feed });
    expect(made).toBe(1);
  });
});
