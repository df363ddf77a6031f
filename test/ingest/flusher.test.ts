import { expect, test } from 'vitest';
import { Refusal } from '../../src/base/refusal.ts';
import {
  FLUSH_BYTES_MAX,
  FLUSH_EVENTS_MAX,
  Flusher,
  PUBLISHABLE_QUEUED_BYTES_MAX,
  PUBLISHABLE_QUEUED_EVENTS_MAX,
  QUEUED_BYTES_MAX,
  QUEUED_EVENTS_MAX,
} from '../../src/ingest/flusher.ts';

const BAD = 'bad';
/** In these tests a letter is a mebibyte. */
const MEBIBYTE = 2 ** 20;
const bytesOf = (item: string): number => (/^L+$/.test(item) ? item.length * MEBIBYTE : 1);
const DOWN = Object.assign(new Error('the database is gone'), { code: '57P01' });
const PROJECT = 'project';
const makeFlusher = (store: (projectId: string, items: string[]) => Promise<string[]>) =>
  new Flusher<string, string>(store, bytesOf);

type Call = { projectId: string; items: string[] };

/** A store whose first flush waits until it is let go, so that what comes meanwhile can be seen. */
const slowStore = (answer: (items: string[]) => string[] = (items) => items) => {
  const calls: Call[] = [];
  let letGo = () => {};
  const first = new Promise<void>((resolve) => (letGo = resolve));
  const flusher = makeFlusher(async (projectId, items) => {
    calls.push({ projectId, items });
    if (calls.length === 1) await first;
    if (items.includes(BAD)) throw new Error('cannot be stored');
    return answer(items);
  });
  return { flusher, calls, letGo };
};
const many = (count: number, name = 'x'): string[] => Array<string>(count).fill(name);
const sizes = (calls: Call[]) => calls.map(({ items }) => items.length);
const isOverloaded = (error: unknown) =>
  error instanceof Refusal && error.reason === 'overloaded' && error.extras.retryAfterSeconds === 1;

test('an idle project is flushed at once, and answered in order', async () => {
  const { flusher, calls, letGo } = slowStore((items) => items.map((item) => item.toUpperCase()));
  const adding = flusher.add(PROJECT, ['a', 'b']);
  expect(calls).toEqual([{ projectId: PROJECT, items: ['a', 'b'] }]);
  letGo();
  expect(await adding).toEqual(['A', 'B']);
});

test('requests that arrive while a flush is in flight share the next one', async () => {
  const { flusher, calls, letGo } = slowStore((items) => items.map((item) => `stored ${item}`));
  const adding = ['a', 'b', 'c', 'd'].map((item) => flusher.add(PROJECT, [item, item]));
  letGo();
  expect(await Promise.all(adding)).toEqual(
    ['a', 'b', 'c', 'd'].map((item) => [`stored ${item}`, `stored ${item}`]),
  );
  expect(calls.map(({ items }) => items.join(''))).toEqual(['aa', 'bbccdd']);
});

const hops = async (count: number): Promise<void> => {
  for (let hop = 0; hop < count; hop += 1) await new Promise(setImmediate);
};

test('clients that ask again as soon as they are answered share commits, none has one of its own', async () => {
  const flushes: number[] = [];
  const flusher = makeFlusher(async (_, items) => {
    flushes.push(items.length);
    await hops(6);
    return items;
  });
  const clients = Array.from({ length: 8 }, async () => {
    for (let round = 0; round < 12; round += 1) {
      await flusher.add(PROJECT, ['x']);
      await hops(3);
    }
  });
  await Promise.all(clients);
  expect(flushes[0]).toBe(1);
  expect(Math.min(...flushes.slice(1, -2))).toBeGreaterThanOrEqual(3);
});

test('projects share nothing: one that waits does not hold up another', async () => {
  const { flusher, calls, letGo } = slowStore();
  const waiting = flusher.add('slow', ['a']);
  expect(await flusher.add('quick', ['b'])).toEqual(['b']);
  letGo();
  await waiting;
  expect(calls.map(({ projectId }) => projectId)).toEqual(['slow', 'quick']);
});

test('a flush holds at most 500 events, in whole requests', async () => {
  const { flusher, calls, letGo } = slowStore();
  const adding = [1, 200, 200, 100, 1, 499, 1].map((count) => flusher.add(PROJECT, many(count)));
  letGo();
  await Promise.all(adding);
  expect(sizes(calls)).toEqual([1, FLUSH_EVENTS_MAX, FLUSH_EVENTS_MAX, 1]);
});

test('a request larger than a flush is stored whole, by itself', async () => {
  const { flusher, calls, letGo } = slowStore();
  const adding = [1, FLUSH_EVENTS_MAX + 1, 1].map((count) => flusher.add(PROJECT, many(count)));
  letGo();
  await Promise.all(adding);
  expect(sizes(calls)).toEqual([1, FLUSH_EVENTS_MAX + 1, 1]);
});

test('one bad neighbour is found by halves, and only it is refused', async () => {
  for (let bad = 0; bad < 9; bad += 1) {
    const { flusher, letGo } = slowStore();
    const first = flusher.add(PROJECT, ['first']);
    const adding = Array.from({ length: 9 }, (_, at) =>
      flusher.add(PROJECT, at === bad ? ['good', BAD] : [`item ${at}`]),
    );
    letGo();
    await first;
    const ends = await Promise.allSettled(adding);
    expect(ends.map(({ status }) => status)).toEqual(
      ends.map((_, at) => (at === bad ? 'rejected' : 'fulfilled')),
    );
    for (const [at, end] of ends.entries())
      if (end.status === 'fulfilled') expect(end.value).toEqual([`item ${at}`]);
  }
});

test('looking for the bad one asks the store a bounded number of times', async () => {
  const { flusher, calls, letGo } = slowStore();
  const adding = Array.from({ length: 65 }, (_, at) =>
    flusher.add(PROJECT, [at === 40 ? BAD : 'x']),
  );
  letGo();
  await Promise.allSettled(adding);
  expect(calls.length).toBeLessThanOrEqual(1 + 1 + 2 * Math.log2(64));
});

test('when the database is down everybody is refused, once, without trying halves', async () => {
  let calls = 0;
  const flusher = makeFlusher(() => {
    calls += 1;
    return Promise.reject(new Error('lost', { cause: DOWN }));
  });
  const adding = many(20).map((item) => flusher.add(PROJECT, [item]));
  const ends = await Promise.allSettled(adding);
  expect(ends.every(({ status }) => status === 'rejected')).toBe(true);
  expect(calls).toBe(2);
});

test('a store that throws before it begins refuses its callers and nobody after them', async () => {
  let isBroken = true;
  const flusher = makeFlusher((_projectId, items) => {
    if (isBroken) throw new Error('not even a promise');
    return Promise.resolve(items);
  });
  await expect(flusher.add(PROJECT, ['a'])).rejects.toThrow('not even a promise');
  isBroken = false;
  expect(await flusher.add(PROJECT, ['b'])).toEqual(['b']);
});

test('so many events of all projects may wait; one more is refused politely', async () => {
  const { flusher, letGo } = slowStore();
  const half = QUEUED_EVENTS_MAX / 2;
  const waiting = [flusher.add('one', many(half)), flusher.add('two', many(half))];
  await expect(flusher.add('three', ['x'])).rejects.toSatisfy(isOverloaded);
  letGo();
  await Promise.all(waiting);
  expect(await flusher.add('three', ['x'])).toEqual(['x']);
});

test('a request that would go past the bound is refused whole, a smaller one still fits', async () => {
  const { flusher, letGo } = slowStore();
  const waiting = flusher.add(PROJECT, many(QUEUED_EVENTS_MAX - 1));
  await expect(flusher.add(PROJECT, many(2))).rejects.toSatisfy(isOverloaded);
  const last = flusher.add(PROJECT, ['x']);
  await expect(flusher.add(PROJECT, ['y'])).rejects.toSatisfy(isOverloaded);
  letGo();
  await waiting;
  expect(await last).toEqual(['x']);
});

const large = (mebibytes: number): string[] => ['L'.repeat(mebibytes)];

test('so many bytes of all projects may wait; one more is refused politely', async () => {
  const { flusher, letGo } = slowStore();
  const half = QUEUED_BYTES_MAX / MEBIBYTE / 2;
  const waiting = [flusher.add('one', large(half)), flusher.add('two', large(half))];
  await expect(flusher.add('three', ['x'])).rejects.toSatisfy(isOverloaded);
  letGo();
  await Promise.all(waiting);
  const whole = large(QUEUED_BYTES_MAX / MEBIBYTE);
  expect(await flusher.add('three', whole)).toEqual(whole);
});

test('a flush holds so many bytes at most, in whole requests', async () => {
  const { flusher, calls, letGo } = slowStore();
  const most = FLUSH_BYTES_MAX / MEBIBYTE;
  const adding = [1, most, 1, most - 1, 1].map((size) => flusher.add(PROJECT, large(size)));
  letGo();
  await Promise.all(adding);
  expect(calls.map(({ items }) => items.map((item) => item.length))).toEqual([
    [1],
    [most],
    [1, most - 1],
    [1],
  ]);
});

test('after any mixture of ends nothing counts as waiting any more', async () => {
  let round = 0;
  const flusher = makeFlusher((_projectId, items) => {
    round += 1;
    if (round % 5 === 0) return Promise.reject(DOWN);
    return items.includes(BAD) ? Promise.reject(new Error('no')) : Promise.resolve(items);
  });
  const adding = Array.from({ length: 60 }, (_, at) =>
    flusher.add(`project ${at % 3}`, at % 7 === 0 ? [BAD] : many(30)),
  );
  await Promise.allSettled(adding);
  round = 0;
  expect(await flusher.add('empty', many(QUEUED_EVENTS_MAX))).toHaveLength(QUEUED_EVENTS_MAX);
  const whole = large(QUEUED_BYTES_MAX / MEBIBYTE);
  expect(await flusher.add('large', whole)).toEqual(whole);
});

const page = 'publishable';

test('events of web pages fill half of the queue: one more is refused, and those of a server still fit', async () => {
  const { flusher, letGo } = slowStore();
  const half = PUBLISHABLE_QUEUED_EVENTS_MAX;
  expect(half).toBe(QUEUED_EVENTS_MAX / 2);
  const waiting = [flusher.add('one', many(half), page)];
  await expect(flusher.add('three', ['x'], page)).rejects.toSatisfy(isOverloaded);
  waiting.push(flusher.add('one', many(half)));
  await expect(flusher.add('three', ['x'])).rejects.toSatisfy(isOverloaded);
  expect(flusher.publishable.events).toBe(half);
  letGo();
  await Promise.all(waiting);
  expect([flusher.queuedCount, flusher.publishable]).toEqual([0, { events: 0, bytes: 0 }]);
});

test('the same holds for their bytes', async () => {
  const { flusher, letGo } = slowStore();
  const half = PUBLISHABLE_QUEUED_BYTES_MAX / MEBIBYTE;
  const waiting = [flusher.add('one', large(half), page)];
  await expect(flusher.add('two', ['x'], page)).rejects.toSatisfy(isOverloaded);
  waiting.push(flusher.add('two', large(half)));
  letGo();
  await Promise.all(waiting);
});

test('events of a server are in the next flush, however many of web pages wait before them', async () => {
  const { flusher, calls, letGo } = slowStore();
  const adding = [flusher.add(PROJECT, ['first'])];
  for (let at = 0; at < 40; at += 1) adding.push(flusher.add(PROJECT, many(50, 'page'), page));
  adding.push(flusher.add(PROJECT, ['server']));
  letGo();
  await Promise.all(adding);
  expect(calls[1]?.items).toContain('server');
  expect(calls[1]?.items).toHaveLength(1 + 9 * 50);
});

test('where both kinds wait, each has half of a flush, and none starves the other', async () => {
  const { flusher, calls, letGo } = slowStore();
  const adding = [flusher.add(PROJECT, ['first'])];
  for (let at = 0; at < 40; at += 1) adding.push(flusher.add(PROJECT, many(50, 'page'), page));
  for (let at = 0; at < 40; at += 1) adding.push(flusher.add(PROJECT, many(50, 'server')));
  letGo();
  await Promise.all(adding);
  for (const { items } of calls.slice(1)) {
    expect(items).toHaveLength(FLUSH_EVENTS_MAX);
    expect(items.filter((item) => item === 'page')).toHaveLength(FLUSH_EVENTS_MAX / 2);
  }
});

test('a request of a web page larger than half of a flush is stored in its turn, whatever a server sends', async () => {
  const { flusher, calls, letGo } = slowStore();
  const adding = [flusher.add(PROJECT, ['first'])];
  adding.push(flusher.add(PROJECT, many(FLUSH_EVENTS_MAX, 'page'), page));
  for (let at = 0; at < 40; at += 1) adding.push(flusher.add(PROJECT, many(100, 'server')));
  letGo();
  await Promise.all(adding);
  expect(calls.slice(1, 3).some(({ items }) => items.includes('page'))).toBe(true);
});

test('a request without events is answered without events', async () => {
  const { flusher, letGo } = slowStore();
  letGo();
  expect(await flusher.add(PROJECT, [])).toEqual([]);
});
