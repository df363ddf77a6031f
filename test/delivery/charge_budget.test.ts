import { expect, test } from 'vitest';
import { testDatabase } from '../support/database.ts';
import { budgeted } from './budgeted.ts';

const database = testDatabase();

test('the budget pays for what is handed over to an unconfirmed address, and for nothing else', async () => {
  const { projectId, sends, leased, person, unconfirmed, readBudget } = budgeted(database);
  await sends.begin(await leased(await person()));
  expect(await readBudget()).toBeNull();
  const send = await unconfirmed();
  expect(await sends.begin(send)).toBe('handing_off');
  const budget = await readBudget();
  expect(budget?.used).toBe(1);
  const { rows } = await database.owner.query(
    'select budget_window from delivery.sends where project_id = $1 and send_id = $2',
    [projectId, send.sendId],
  );
  expect(rows).toEqual([{ budget_window: budget?.window_at }]);
});

test('one email past the budget waits for the next hour, and says so', async () => {
  const { sends, decide, unconfirmed, readBudget, waitsFor } = budgeted(database);
  await decide(2);
  expect(await sends.begin(await unconfirmed())).toBe('handing_off');
  expect(await sends.begin(await unconfirmed())).toBe('handing_off');
  const third = await unconfirmed();
  expect(await sends.begin(third)).toBe('queued');
  expect(await sends.read(third.sendId)).toMatchObject({
    status: 'queued',
    status_reason: 'unconfirmed_budget',
    handed_off_at: null,
  });
  const seconds = await waitsFor(third.sendId);
  expect(seconds).toBeGreaterThan(3_500);
  expect(seconds).toBeLessThanOrEqual(3_600);
  expect(await readBudget()).toMatchObject({ used: 2, parked: 1 });
});
