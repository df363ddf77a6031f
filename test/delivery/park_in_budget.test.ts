import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const WINDOW = '2026-01-31 12:00+00';

/** The hours after the window's start that emails are due which wait one after the other. */
const park = async (count: number, sendsMax: number): Promise<number[]> => {
  const projectId = newId();
  let budget = `(${projectId},"${WINDOW}",${sendsMax},,0)`;
  const hours: number[] = [];
  for (let at = 0; at < count; at += 1) {
    const { rows } = await database.owner.query<{ budget: string; hours: number }>(
      `select place::text as budget, extract(epoch from (place).parked_at - $4::timestamptz)::int / 3600 as hours
       from delivery.park_in_budget($1, $2::delivery.unconfirmed_budgets, $3) as place`,
      [projectId, budget, sendsMax, WINDOW],
    );
    budget = rows[0]?.budget ?? '';
    hours.push(rows[0]?.hours ?? NaN);
  }
  return hours;
};

test('each hour to come takes as many as the budget has room for', async () => {
  expect(await park(7, 3)).toEqual([1, 1, 1, 2, 2, 2, 3]);
});

test('without any budget all wait for the next hour, in which they are judged again', async () => {
  expect(await park(3, 0)).toEqual([1, 1, 1]);
});
