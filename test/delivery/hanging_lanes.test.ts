import { expect, test } from 'vitest';
import { Turn } from '../../src/delivery/turn.ts';

const FOREVER_MS = 60_000;
const ended = (turn: Turn<string, null>) => turn.when(() => turn.isIdle, FOREVER_MS);

test('says that lanes of pages hang from a stall until a hand-off of a page ends', async () => {
  const ends = new Map<string, () => void>();
  const work = (item: string) => new Promise<void>((resolve) => void ends.set(item, resolve));
  const isOfPage = (item: string) => item.startsWith('page');
  const turn = new Turn<string, null>(null, 5, work, { isOfPage, isUrgent: () => true });
  turn.add(['page 0', 'page 1', 'page 2', 'page 3']);
  expect([turn.noteStall(), turn.arePagesHanging]).toEqual([false, false]);

  turn.add(['page 4']);
  expect(turn.waits).toEqual({ ofPages: true, others: false });
  expect([turn.noteStall(), turn.arePagesHanging]).toEqual([true, true]);
  expect([turn.drain(), turn.isAskedAgain]).toEqual([['page 4'], false]);

  turn.add(['order 0', 'order 1']);
  expect([turn.waits, turn.urgentCount]).toEqual([{ ofPages: false, others: true }, 1]);
  expect([turn.noteStall(), turn.arePagesHanging]).toEqual([false, true]);
  ends.get('order 0')?.();
  await turn.when(() => ends.has('order 1'), FOREVER_MS);
  expect([turn.arePagesHanging, turn.isAskedAgain]).toEqual([true, false]);

  ends.get('page 0')?.();
  await turn.when(() => turn.load.busy === 4, FOREVER_MS);
  expect([turn.arePagesHanging, turn.isAskedAgain]).toEqual([false, true]);
  for (const end of ends.values()) end();
  expect(await ended(turn)).toBe(true);
});

test('says for how long lanes hang that pages can make slow, whatever the items are', async () => {
  const ends = new Map<string, () => void>();
  const work = (item: string) => new Promise<void>((resolve) => void ends.set(item, resolve));
  const mayHang = (item: string) => item.endsWith('with words');
  const turn = new Turn<string, null>(null, 5, work, { mayHang });
  turn.add(Array.from({ length: 5 }, (_, at) => `order ${at} with words`));
  expect([turn.load.busy, turn.waits, turn.hangsForMs]).toEqual([
    4,
    { ofPages: false, others: true },
    0,
  ]);
  const before = performance.now();
  expect(turn.noteStall()).toBe(true);
  const after = performance.now();
  await turn.when(() => performance.now() > after + 2, 10);
  turn.noteStall();
  expect(turn.hangsForMs).toBeGreaterThan(2);
  expect(turn.hangsForMs).toBeLessThanOrEqual(performance.now() - before);
  ends.get('order 0 with words')?.();
  await turn.when(() => ends.size === 5, FOREVER_MS);
  expect(turn.hangsForMs).toBe(0);
  for (const end of ends.values()) end();
  expect(await ended(turn)).toBe(true);
});
