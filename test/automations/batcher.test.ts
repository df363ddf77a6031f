import { expect, test } from 'vitest';
import { Batcher } from '../../src/automations/batcher.ts';

/** A batcher with two kinds of questions, and the calls that they led to. */
const opened = () => {
  const batcher = new Batcher();
  const calls: string[] = [];
  let open = 0;
  const kind = (name: string) =>
    batcher.add(async (inputs: readonly number[]) => {
      open += 1;
      calls.push(`${name} ${inputs.join(' ')}${open > 1 ? ' overlaps' : ''}`);
      await Promise.resolve();
      open -= 1;
      if (inputs.includes(0)) throw new Error('zero');
      return inputs.map((input) => `${name}${input}`);
    });
  return { calls, a: kind('a'), b: kind('b'), batcher };
};

test('answers questions of one moment with one call, each with its own answer', async () => {
  const { calls, a } = opened();
  expect(await Promise.all([a(1), a(2), a(3)])).toEqual(['a1', 'a2', 'a3']);
  expect(calls).toEqual(['a 1 2 3']);
});

test('the kind with the most questions comes first, and calls never overlap', async () => {
  const { calls, a, b } = opened();
  const walk = async (at: number) => [await a(at), await b(at)].join();
  const late = async (at: number) => b(at);
  expect(await Promise.all([late(9), walk(1), walk(2)])).toEqual(['b9', 'a1,b1', 'a2,b2']);
  expect(calls).toEqual(['a 1 2', 'b 9 1 2']);
});

test('walks of different lengths ask together for as long as they last', async () => {
  const { calls, a } = opened();
  const walk = async (...asked: number[]) => {
    for (const one of asked) await a(one);
  };
  await Promise.all([walk(1, 2, 3), walk(4), walk(5, 6)]);
  expect(calls).toEqual(['a 1 4 5', 'a 2 6', 'a 3']);
  await a(7);
  expect(calls.at(-1)).toBe('a 7');
});

test('a call that fails fails for each of its questions, and later questions have their answers', async () => {
  const { a, b } = opened();
  const settled = await Promise.allSettled([a(0), a(1), b(2)]);
  expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
  expect(await a(3)).toBe('a3');
});

test('a call that leaves out an answer fails', async () => {
  const { batcher } = opened();
  const ask = batcher.add((inputs: readonly number[]) => Promise.resolve(inputs.slice(1)));
  await expect(Promise.all([ask(1), ask(2)])).rejects.toThrow('a question has no answer');
});
