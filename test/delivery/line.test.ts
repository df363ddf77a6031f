import { expect, test } from 'vitest';
import { Line, URGENT_IN_A_ROW_MAX } from '../../src/delivery/line.ts';

const AT_ONCE = (): number => 0;
const makeLine = () => new Line<string>((item) => item.startsWith('urgent'));
const takeAll = <T>(line: Line<T>): (T | undefined)[] =>
  Array.from({ length: line.length }, () => line.take());

test('items go in the order in which they came, and urgent ones before them', () => {
  const line = makeLine();
  line.add(['a', 'b'], AT_ONCE);
  line.add(['urgent 1', 'c', 'urgent 2'], AT_ONCE);
  expect([line.length, line.urgentCount()]).toEqual([5, 2]);
  expect(takeAll(line)).toEqual(['urgent 1', 'urgent 2', 'a', 'b', 'c']);
  expect([line.length, line.take()]).toEqual([0, undefined]);
});

test('so many urgent items go in a row, then one of the others', () => {
  const line = makeLine();
  line.add(['a', 'b'], AT_ONCE);
  line.add(
    Array.from({ length: 8 }, (_, at) => `urgent ${at}`),
    AT_ONCE,
  );
  const order = takeAll(line);
  expect(order.indexOf('a')).toBe(URGENT_IN_A_ROW_MAX);
  expect(order.indexOf('b')).toBe(2 * URGENT_IN_A_ROW_MAX + 1);
});

test('without others urgent items go on', () => {
  const line = makeLine();
  line.add(
    Array.from({ length: 5 }, (_, at) => `urgent ${at}`),
    AT_ONCE,
  );
  expect(takeAll(line)).toHaveLength(5);
});

test('an urgent item takes the next moment, and the item before it a later one', () => {
  const line = makeLine();
  line.add(['a', 'b'], (at) => 100 + at * 10);
  line.add(['urgent'], () => 500);
  const order: [number | null, string | undefined][] = [];
  while (line.length > 0) order.push([line.nextAt, line.take()]);
  expect(order).toEqual([
    [100, 'urgent'],
    [110, 'a'],
    [500, 'b'],
  ]);
  expect(line.nextAt).toBeNull();
});

test('a drained line has neither items nor moments', () => {
  const line = makeLine();
  line.add(['a', 'urgent'], (at) => at);
  expect(line.drain()).toEqual(['urgent', 'a']);
  expect([line.length, line.nextAt]).toEqual([0, null]);
});

test('an item that may not go is passed over, urgent or not, and stays in its place', () => {
  const line = makeLine();
  line.add(['slow', 'a', 'urgent slow', 'urgent'], (at) => 10 * at);
  const mayGo = (item: string): boolean => !item.includes('slow');
  expect([line.take(mayGo), line.take(mayGo), line.take(mayGo)]).toEqual([
    'urgent',
    'a',
    undefined,
  ]);
  expect([line.has(mayGo), line.length, line.nextAt]).toEqual([false, 2, 20]);
  expect(takeAll(line)).toEqual(['urgent slow', 'slow']);
});
