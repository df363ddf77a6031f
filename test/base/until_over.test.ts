// What is told to whoever looks on ends when the signal says so, and what nobody hears ends nothing else.
import { once } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { untilOver } from '../../src/base/until_over.ts';

type Ended = { isEnded: boolean };
async function* count(ended: Ended) {
  try {
    for (let at = 1; ; at += 1) yield at;
  } finally {
    ended.isEnded = true;
  }
}

test('it tells what is told, and ends it for whoever leaves', async () => {
  const ended = { isEnded: false };
  const told: number[] = [];
  for await (const one of untilOver(count(ended), new AbortController().signal)) {
    told.push(one);
    if (one === 3) break;
  }
  expect([told, ended]).toEqual([[1, 2, 3], { isEnded: true }]);
});

test('when it is over it ends as what is aborted, which browsers come again after', async () => {
  const ended = { isEnded: false };
  const leaving = new AbortController();
  const told = untilOver(count(ended), leaving.signal);
  expect(await told.next()).toEqual({ done: false, value: 1 });
  leaving.abort();
  await expect(told.next()).rejects.toMatchObject({ name: 'AbortError' });
  expect(ended.isEnded).toBe(true);
});

test('what is over already is not even begun', async () => {
  let isBegun = false;
  // oxlint-disable-next-line require-yield
  async function* begin() {
    isBegun = true;
  }
  await expect(untilOver(begin(), AbortSignal.abort()).next()).rejects.toThrow('aborted');
  expect(isBegun).toBe(false);
});

test('what fails after everybody has left ends no process', async () => {
  const unheard: unknown[] = [];
  const hear = (error: unknown) => unheard.push(error);
  const others = process.listeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection').on('unhandledRejection', hear);
  try {
    const failing = new AbortController();
    // oxlint-disable-next-line require-yield
    async function* fail() {
      await once(failing.signal, 'abort');
      throw new Error('the database is away');
    }
    void untilOver(fail(), new AbortController().signal).next();
    failing.abort();
    const leaving = new AbortController();
    void untilOver(count({ isEnded: false }), leaving.signal).next();
    leaving.abort();
    for (let at = 0; at < 5; at += 1) await turn();
  } finally {
    process.off('unhandledRejection', hear);
    for (const other of others) process.on('unhandledRejection', other);
  }
  expect(unheard).toEqual([]);
});
