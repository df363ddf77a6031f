// The documented queries about what people do, over a past written by hand.
import { expect, test } from 'vitest';
import { testDatabase } from '../../support/database.ts';
import { connectAnalyst } from '../connect_analyst.ts';
import { at, Shop } from '../shop.ts';
import type { Line } from '../shop.ts';
import { runExample } from './run_example.ts';

const database = testDatabase();

/** What a query answers an analyst of a project with this past, beside another with a past of its own. */
const ask = async (name: string, lines: Line[], told: [who: string, plan: string][] = []) => {
  const shop = await Shop.open(database);
  if (lines.length > 0) await shop.happened(...lines);
  for (const [who, plan] of told) await shop.told(who, { email: `${who}@example.com`, plan });
  const other = await Shop.open(database);
  await other.happened([at(1), 'zoe~z', 'page_viewed'], [at(1), 'zoe', 'order_placed']);
  return runExample(await connectAnalyst(database, shop.projectId), name);
};

const DAY_MS = 86_400_000;
const day = (daysAgo: number): Date => at(daysAgo, '00:00');
/** Midnight of the Monday so many weeks ago. */
const monday = (weeksAgo: number): Date => {
  const sinceMonday = (new Date().getUTCDay() + 6) % 7;
  return day(sinceMonday + weeksAgo * 7);
};
const inWeek = (weeksAgo: number, days: number): Date =>
  new Date(monday(weeksAgo).getTime() + (days + 0.5) * DAY_MS);

test('funnel: steps in their order and within their time', async () => {
  const rows = await ask('funnel', [
    [at(20), 'ann', 'page_viewed'],
    [at(19), 'ann', 'user_signed_up'],
    [at(18), 'ann', 'order_placed'],
    [at(20), 'bob', 'page_viewed'],
    [at(19), 'bob', 'user_signed_up'],
    [at(11), 'bob', 'order_placed'],
    [at(20), 'cid', 'page_viewed'],
    [at(12), 'cid', 'user_signed_up'],
    [at(9), 'dan', 'user_signed_up'],
    [at(8), 'dan', 'page_viewed'],
    [at(40), 'eva', 'page_viewed'],
    [at(39), 'eva', 'user_signed_up'],
  ]);
  expect(rows).toEqual([
    { step: 1, event: 'page_viewed', people: 4, of_first: 1 },
    { step: 2, event: 'user_signed_up', people: 2, of_first: 0.5 },
    { step: 3, event: 'order_placed', people: 1, of_first: 0.25 },
  ]);
});

test('retention_cohorts: who came back in which week', async () => {
  const rows = await ask('retention_cohorts', [
    [inWeek(3, 0), 'ann', 'page_viewed'],
    [inWeek(2, 1), 'ann', 'page_viewed'],
    [inWeek(2, 2), 'ann', 'page_viewed'],
    [inWeek(3, 6), 'bob', 'page_viewed'],
    [inWeek(1, 3), 'bob', 'page_viewed'],
    [inWeek(2, 0), 'cid', 'page_viewed'],
    [inWeek(12, 0), 'dan', 'page_viewed'],
    [inWeek(1, 0), 'dan', 'page_viewed'],
  ]);
  expect(rows).toEqual([
    { cohort: monday(3), weeks: 0, people: 2, active: 2, share: 1 },
    { cohort: monday(3), weeks: 1, people: 2, active: 1, share: 0.5 },
    { cohort: monday(3), weeks: 2, people: 2, active: 1, share: 0.5 },
    { cohort: monday(2), weeks: 0, people: 1, active: 1, share: 1 },
  ]);
});

test('time_to_first_purchase: first orders only, and none from before the sign-up', async () => {
  const rows = await ask('time_to_first_purchase', [
    [at(10, '08:00'), 'ann', 'user_signed_up'],
    [at(10, '10:00'), 'ann', 'order_placed'],
    [at(9, '10:00'), 'ann', 'order_placed'],
    [at(10, '08:00'), 'bob', 'user_signed_up'],
    [at(10, '14:00'), 'bob', 'order_placed'],
    [at(10, '08:00'), 'cid', 'user_signed_up'],
    [at(11), 'dan', 'order_placed'],
    [at(10), 'dan', 'user_signed_up'],
  ]);
  expect(rows).toEqual([{ signed_up: 4, ordered: 2, median_hours: 4, p90_hours: 5.6 }]);
});

test('active_people_per_day: thirty days, each person once a day', async () => {
  const rows = await ask('active_people_per_day', [
    [at(2, '08:00'), 'ann', 'page_viewed'],
    [at(2, '09:00'), 'ann', 'page_viewed'],
    [at(2, '23:59'), 'bob', 'page_viewed'],
    [at(1, '00:00'), 'bob', 'page_viewed'],
    [at(45), 'bob', 'page_viewed'],
  ]);
  expect(rows).toHaveLength(30);
  expect(rows.filter(({ events }) => events !== 0)).toEqual([
    { day: day(2), people: 2, events: 3 },
    { day: day(1), people: 1, events: 1 },
  ]);
});

test('top_events: the most frequent first', async () => {
  const rows = await ask('top_events', [
    [at(2), 'ann', 'page_viewed'],
    [at(1), 'ann', 'page_viewed'],
    [at(1), 'bob', 'page_viewed'],
    [at(1), 'bob', 'order_placed'],
    [at(60), 'bob', 'order_placed'],
  ]);
  expect(rows).toEqual([
    { event: 'page_viewed', events: 3, people: 2, per_person: 1.5 },
    { event: 'order_placed', events: 1, people: 1, per_person: 1 },
  ]);
});

test('event_property_breakdown: amounts that are no numbers count nothing', async () => {
  const rows = await ask('event_property_breakdown', [
    [at(3), 'ann', 'order_placed', { category: 'pens', amount: 10.5 }],
    [at(2), 'ann', 'order_placed', { category: 'pens', amount: 2 }],
    [at(2), 'bob', 'order_placed', { category: 'ink', amount: 'free' }],
    [at(1), 'bob', 'order_placed', { category: 'pens', amount: 'unknown' }],
    [at(1), 'bob', 'page_viewed', { category: 'pens', amount: 1 }],
  ]);
  expect(rows).toEqual([
    { category: 'pens', orders: 3, people: 2, revenue: 12.5 },
    { category: 'ink', orders: 1, people: 1, revenue: null },
  ]);
});

test('first_touch: the first page of the browser that signed up', async () => {
  const rows = await ask('first_touch', [
    [at(9), '~b1', 'page_viewed', { utm_source: 'search' }],
    [at(8), '~b1', 'page_viewed', { utm_source: 'social' }],
    [at(7), 'ann~b1', 'user_signed_up'],
    [at(6), 'ann', 'order_placed'],
    [at(9), '~b2', 'page_viewed', { utm_source: 'search' }],
    [at(8), 'bob~b2', 'user_signed_up'],
    [at(7), '~b2', 'page_viewed', { utm_source: 'later' }],
    [at(5), 'cid', 'user_signed_up'],
    [at(5), '~b4', 'page_viewed', { utm_source: 'social' }],
  ]);
  expect(rows).toEqual([
    { utm_source: 'search', people: 2, ordered: 1 },
    { utm_source: '(none)', people: 1, ordered: 0 },
  ]);
});

test('anonymous_to_known: visitors by the week they came in', async () => {
  const rows = await ask('anonymous_to_known', [
    [inWeek(2, 0), '~b1', 'page_viewed'],
    [inWeek(1, 0), 'ann~b1', 'user_signed_up'],
    [inWeek(2, 3), '~b2', 'page_viewed'],
    [inWeek(1, 2), 'bob~b3', 'user_signed_up'],
    [inWeek(1, 3), 'bob~b3', 'page_viewed'],
  ]);
  expect(rows).toEqual([
    { week: monday(2), visitors: 2, known: 1, share: 0.5 },
    { week: monday(1), visitors: 1, known: 1, share: 1 },
  ]);
});

test('people_by_trait: everybody, also those of whom nothing is known', async () => {
  const rows = await ask(
    'people_by_trait',
    [
      [at(3), 'ann', 'page_viewed'],
      [at(50), 'bob', 'page_viewed'],
      [at(3), '~b1', 'page_viewed'],
    ],
    [
      ['ann', 'pro'],
      ['bob', 'pro'],
    ],
  );
  expect(rows).toEqual([
    { plan: 'pro', people: 2, active: 1, with_address: 2 },
    { plan: '(none)', people: 1, active: 1, with_address: 0 },
  ]);
});

test('time_to_identify: links that stand, by what made them, and visitors nobody knows', async () => {
  const shop = await Shop.open(database);
  await shop.happened(
    ...['b1', 'b2', 'b3', 'b4', 'b5'].map((browser): Line => [at(3), `~${browser}`, 'page_viewed']),
    [at(120), '~b6', 'page_viewed'],
    [at(3), 'ann', 'user_signed_up'],
    [at(3), 'bob', 'user_signed_up'],
  );
  await shop.linked('b1', 'ann');
  await shop.linked('b2', 'ann');
  await shop.linked('b2', 'bob');
  const { link_id } = await shop.linked('b3', 'bob');
  await shop.unlinked(link_id);
  await shop.linked('b6', 'bob');
  const seen = at(3).getTime();
  for (const [browser, hours] of [
    ['b1', 12],
    ['b2', 36],
  ] as const)
    await database.owner.query(
      'update identity.links set created_at = $3 where project_id = $1 and anonymous_id = $2',
      [shop.projectId, browser, new Date(seen + hours * 3_600_000)],
    );
  const analyst = await connectAnalyst(database, shop.projectId);
  expect(await runExample(analyst, 'time_to_identify')).toEqual([
    {
      source: '(still unknown)',
      visitors: 3,
      within_a_day: 0,
      within_a_week: 0,
      median_days: null,
    },
    { source: 'identify', visitors: 2, within_a_day: 1, within_a_week: 2, median_days: 1 },
  ]);
});
