import { expect, test } from 'vitest';
import { listQueues } from '../../src/base/memory_queues.ts';
import { anonymousName } from '../../src/quotas/identifiers.ts';
import type { Name } from '../../src/quotas/identifiers.ts';
import { meterOf } from '../../src/quotas/meter.ts';
import { RECENT_MAX, RecentMemory } from '../../src/quotas/recent_names.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();

const names = (count: number, prefix: string): Name[] =>
  Array.from({ length: count }, (_, at) => anonymousName(`${prefix} ${at}`));

test('one name past the bound: the largest project makes room, and its names still count', () => {
  const memory = new RecentMemory();
  const quiet = memory.open('quiet');
  const hot = memory.open('hot');
  quiet.add(names(1_000, 'quiet'));
  for (let from = 1_000; from < RECENT_MAX; from += 1_000) hot.add(names(1_000, `hot ${from}`));
  expect([memory.heldCount, quiet.heldCount, hot.heldCount]).toEqual([
    RECENT_MAX,
    1_000,
    RECENT_MAX - 1_000,
  ]);
  quiet.add(names(1, 'one more'));
  expect([memory.heldCount, quiet.heldCount, hot.heldCount]).toEqual([1_001, 1_001, 0]);
  expect([quiet.size, hot.size]).toEqual([1_001, RECENT_MAX - 1_000]);
  expect([quiet.has(anonymousName('quiet 0')), hot.has(anonymousName('hot 1000 0'))]).toEqual([
    true,
    false,
  ]);
});

test('several small keys of one project count together against one key of another', () => {
  const memory = new RecentMemory(100);
  const alone = memory.open('alone');
  alone.add(names(40, 'alone'));
  const many = Array.from({ length: 6 }, (_, at) => {
    const key = memory.open('many');
    key.add(names(10, `key ${at}`));
    return key;
  });
  alone.add(names(1, 'one more'));
  expect(alone.heldCount).toBe(41);
  expect(many.map(({ heldCount }) => heldCount)).toEqual([0, 10, 10, 10, 10, 10]);
  expect(memory.heldCount).toBe(91);
});

test('names that made room are gone after two rotations, as all others are', () => {
  const memory = new RecentMemory(10);
  const key = memory.open('project');
  key.add(names(10, 'a'));
  key.rotate();
  key.add(names(1, 'b'));
  expect([key.size, key.heldCount]).toEqual([11, 1]);
  key.rotate();
  expect([key.size, key.heldCount, memory.heldCount]).toEqual([1, 1, 1]);
  key.rotate();
  expect([key.size, key.heldCount, memory.heldCount]).toEqual([0, 0, 0]);
});

test('the running count is that of all names, whatever is added, removed, rotated and closed', () => {
  const memory = new RecentMemory(50);
  const keys = ['a', 'b', 'c'].map((project) => memory.open(project));
  for (let round = 0; round < 200; round += 1) {
    const key = keys[round % keys.length];
    key?.add(names(round % 7, `round ${round}`));
    if (round % 3 === 0) key?.delete(names(4, `round ${round - 3}`));
    if (round % 5 === 0) key?.rotate();
    const held = keys.reduce((sum, { heldCount }) => sum + heldCount, 0);
    expect([memory.heldCount, held <= 50]).toEqual([held, true]);
  }
  for (const key of keys) key.close();
  expect([memory.heldCount, memory.holders.size]).toEqual([0, 0]);
});

test('the memory is measured against its bound', () => {
  const meter = meterOf(database.deps);
  const queue = listQueues(database.deps).get('recent_identifiers');
  meter.memory.open('project').add(names(3, 'x'));
  expect([queue?.size(), queue?.max]).toEqual([3, RECENT_MAX]);
});
