import { expect, test } from 'vitest';
import { testDatabase } from '../support/database.ts';
import { budgeted } from './budgeted.ts';

const database = testDatabase();

const limit = async (
  projectId: string,
  limits: object,
  given: { isConfirmed?: boolean; begun?: number } = {},
) => {
  const { isConfirmed = false, begun = 0 } = given;
  const { rows } = await database.owner.query(
    `select stop, is_under_way from delivery.limit_by_mailbox($1, gen_random_uuid(), gen_random_uuid(), $2, $3, $4,
       $5, 3, now())`,
    [projectId, Buffer.from('m'), limits, isConfirmed, begun],
  );
  return rows[0];
};
const UNCONFIRMED = { unconfirmed: { per_automation: 1, per_day: 3 } };

test('a mailbox that got nothing yet has room, confirmed or not', async () => {
  const { projectId } = budgeted(database);
  const none = { stop: null, is_under_way: null };
  expect(await limit(projectId, { browser_triggered: true, ...UNCONFIRMED })).toEqual(none);
  expect(await limit(projectId, UNCONFIRMED, { isConfirmed: true, begun: 9 })).toEqual(none);
});

test('what begins together counts: an unconfirmed address gets one, a recipient as many as the cap', async () => {
  const { projectId } = budgeted(database);
  expect(await limit(projectId, UNCONFIRMED, { begun: 1 })).toEqual({
    stop: 'unconfirmed_address',
    is_under_way: true,
  });
  const browser = { browser_triggered: true };
  expect(await limit(projectId, browser, { begun: 2 })).toMatchObject({ stop: null });
  expect(await limit(projectId, browser, { begun: 3 })).toEqual({
    stop: 'recipient_cap',
    is_under_way: true,
  });
});
