import { expect, test } from 'vitest';
import { testDatabase } from '../support/database.ts';
import { budgeted } from './budgeted.ts';

const database = testDatabase();

test('the window and the places are written for the one project', async () => {
  const [one, other] = [budgeted(database), budgeted(database)];
  for (const { unconfirmed, sends } of [one, other]) await sends.begin(await unconfirmed());
  const before = await other.readBudget();
  await database.owner.query(
    'select delivery.keep_budget($1, ($1, $2, 5, $3, 7)::delivery.unconfirmed_budgets)',
    [one.projectId, '2026-01-31T12:00:00Z', '2026-01-31T13:00:00Z'],
  );
  expect(await one.readBudget()).toEqual({
    window_at: new Date('2026-01-31T12:00:00Z'),
    used: 5,
    parked_at: new Date('2026-01-31T13:00:00Z'),
    parked: 7,
  });
  expect(await other.readBudget()).toEqual(before);
});
