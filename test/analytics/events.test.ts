import { beforeAll, expect, test } from 'vitest';
import type pg from 'pg';
import { testDatabase } from '../support/database.ts';
import { endAnalysts, keepAnalyst } from './connect_analyst.ts';
import { at, Shop } from './shop.ts';

const database = testDatabase();
endAnalysts();
let analyst: pg.Client;

beforeAll(async () => {
  const shop = await Shop.open(database);
  await shop.happened(
    [at(3), 'ann~b1', 'order_placed', { amount: 12.5, gift: true }],
    [at(400), '~b2', 'page_viewed'],
  );
  analyst = await keepAnalyst(database, shop.projectId);
});

test('an event is shown as it was accepted', async () => {
  const { rows } = await analyst.query(`select * from events where event = 'order_placed'`);
  expect(rows).toEqual([
    {
      event_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      event: 'order_placed',
      occurred_at: at(3),
      received_at: expect.any(Date),
      external_id: 'ann',
      anonymous_id: 'b1',
      properties: { amount: 12.5, gift: true },
      source: 'server',
    },
  ]);
});

test('old months are there too', async () => {
  const { rows } = await analyst.query('select occurred_at from events where anonymous_id = $1', [
    'b2',
  ]);
  expect(rows).toEqual([{ occurred_at: at(400) }]);
});

test('a range of occurred_at opens the partitions of that range only', async () => {
  const { rows } = await analyst.query(
    `explain select count(*) from events where occurred_at >= now() - interval '40 days'`,
  );
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
  const scanned = plan.match(/ on events_\d{6}/g) ?? [];
  // Two or three months back to now, and three ahead.
  expect(scanned.length).toBeGreaterThanOrEqual(4);
  expect(scanned.length).toBeLessThanOrEqual(6);
  expect(plan).toContain(`Subplans Removed: ${28 - scanned.length}`);
});
