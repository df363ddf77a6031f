// Transactional email overtakes marketing, triggered marketing overtakes bulk starts, each overtakes the same of pages,
// and automations take turns.
import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import type { NewSend } from '../../src/delivery/queries.ts';
import { testDatabase } from '../support/database.ts';
import { newSend, sendsOf } from './one_send.ts';

const database = testDatabase();

const OF_PAGE = { browser_triggered: true, zone: 'UTC' } as const;
const KINDS = {
  transactional: { category: 'transactional' },
  triggered: { category: 'marketing' },
  bulk: { category: 'marketing', isBulk: true },
  'transactional of a page': { category: 'transactional', limits: OF_PAGE },
  'triggered by a page': { category: 'marketing', limits: OF_PAGE },
  'bulk of pages': { category: 'marketing', isBulk: true, limits: OF_PAGE },
} as const satisfies Record<string, Partial<NewSend>>;
type Kind = keyof typeof KINDS;

/** A provider, whose claims are counted by kind. */
const makeQueue = () => {
  const [projectId, providerId] = [newId(), newId()];
  const sends = sendsOf(database, projectId);
  const kindOf = new Map<string, string>();
  const plan = async (kind: Kind, count: number, name: string = kind, automationId = newId()) => {
    for (let at = 0; at < count; at += 1) {
      const send = newSend({ providerId, automationId, ...KINDS[kind] });
      await sends.plan(send);
      kindOf.set(send.sendId, name);
    }
  };
  const claim = async (sendsMax: number, marketingMax = sendsMax, pagesMax = sendsMax) => {
    const claimed = await sends.claim(providerId, { sendsMax, marketingMax, pagesMax });
    const counts: Record<string, number> = {};
    for (const { send_id } of claimed) {
      const kind = kindOf.get(send_id) ?? 'another';
      counts[kind] = (counts[kind] ?? 0) + 1;
    }
    return counts;
  };
  return { plan, claim };
};

test('transactional email is claimed before marketing that has waited longer', async () => {
  const { plan, claim } = makeQueue();
  await plan('triggered', 12);
  await plan('transactional', 2);
  expect(await claim(4)).toEqual({ transactional: 2, triggered: 2 });
});

test('it leaves a quarter of each claim to marketing that waits', async () => {
  const { plan, claim } = makeQueue();
  await plan('triggered', 20);
  await plan('transactional', 20);
  expect(await claim(16)).toEqual({ transactional: 12, triggered: 4 });
});

test('what one kind does not use the others get', async () => {
  const { plan, claim } = makeQueue();
  await plan('transactional', 10);
  await plan('bulk', 3);
  expect(await claim(13)).toEqual({ transactional: 10, bulk: 3 });
});

test('marketing that an event caused overtakes a bulk start, and leaves a quarter to it', async () => {
  const { plan, claim } = makeQueue();
  await plan('bulk', 20);
  await plan('triggered', 20);
  expect(await claim(8)).toEqual({ triggered: 6, bulk: 2 });
});

test('a new trigger of the automation whose bulk start waits is not behind it', async () => {
  const { plan, claim } = makeQueue();
  const automationId = newId();
  await plan('bulk', 20, 'bulk', automationId);
  await plan('triggered', 1, 'triggered', automationId);
  expect(await claim(4)).toEqual({ triggered: 1, bulk: 3 });
});

test('marketing is bounded alone: at none, at one, and at all', async () => {
  const { plan, claim } = makeQueue();
  await plan('triggered', 6);
  await plan('transactional', 1);
  expect(await claim(10, 0)).toEqual({ transactional: 1 });
  expect(await claim(10, 1)).toEqual({ triggered: 1 });
  expect(await claim(10, 10)).toEqual({ triggered: 5 });
});

test('email of pages is claimed behind the same kind of others, and leaves to lower kinds what that does', async () => {
  const { plan, claim } = makeQueue();
  await plan('transactional of a page', 40);
  await plan('triggered by a page', 40);
  await plan('transactional', 40);
  await plan('triggered', 40);
  expect(await claim(64)).toEqual({
    transactional: 36,
    'transactional of a page': 12,
    triggered: 12,
    'triggered by a page': 4,
  });
});

test('a new email of the automation whose emails of pages wait is not behind them', async () => {
  const { plan, claim } = makeQueue();
  const automationId = newId();
  await plan('transactional of a page', 20, 'page', automationId);
  await plan('transactional', 1, 'server', automationId);
  expect(await claim(4)).toEqual({ server: 1, page: 3 });
});

test('email of pages is bounded alone: at none, at one, and at all, of each kind', async () => {
  const { plan, claim } = makeQueue();
  await plan('transactional of a page', 1);
  await plan('triggered by a page', 1);
  await plan('bulk of pages', 4);
  await plan('bulk', 1);
  expect(await claim(10, 10, 0)).toEqual({ bulk: 1 });
  expect(await claim(10, 10, 1)).toEqual({ 'transactional of a page': 1 });
  expect(await claim(10, 10, 2)).toEqual({ 'triggered by a page': 1, 'bulk of pages': 1 });
  expect(await claim(10, 10, 10)).toEqual({ 'bulk of pages': 3 });
});

test('what email of pages may not take goes to others', async () => {
  const { plan, claim } = makeQueue();
  await plan('transactional of a page', 20);
  await plan('transactional', 20);
  await plan('bulk', 20);
  expect(await claim(16, 16, 1)).toEqual({
    transactional: 11,
    'transactional of a page': 1,
    bulk: 4,
  });
});

test('with one place in a claim neither kind starves', async () => {
  const { plan, claim } = makeQueue();
  await plan('triggered', 60);
  await plan('transactional', 60);
  const total: Record<string, number> = {};
  for (let round = 0; round < 60; round += 1)
    for (const kind of Object.keys(await claim(1))) total[kind] = (total[kind] ?? 0) + 1;
  // By chance one in four: fewer than one or more than 44 of 60 come once in ten million runs.
  expect(total['triggered']).toBeGreaterThanOrEqual(1);
  expect(total['transactional']).toBeGreaterThanOrEqual(16);
});

test('the first email of another automation has its fair share of the next claim', async () => {
  const { plan, claim } = makeQueue();
  await plan('triggered', 40, 'old');
  await plan('triggered', 3, 'new');
  expect(await claim(10)).toEqual({ old: 7, new: 3 });
});

test('automations share a claim evenly, and those with little leave the rest', async () => {
  const { plan, claim } = makeQueue();
  await plan('triggered', 30, 'a');
  await plan('triggered', 30, 'b');
  await plan('triggered', 1, 'c');
  const { a = 0, b = 0, c } = await claim(21);
  expect([c, a + b]).toEqual([1, 20]);
  expect(Math.abs(a - b)).toBeLessThanOrEqual(1);
});

test('of more automations than places each gets one place at most', async () => {
  const { plan, claim } = makeQueue();
  for (let at = 0; at < 9; at += 1) await plan('triggered', 5, `automation ${at}`);
  const counts = await claim(4);
  expect(Object.values(counts)).toEqual([1, 1, 1, 1]);
});
