import { expect, test } from 'vitest';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();

test.each([
  ['suppressed', 'suppressed'],
  ['unsubscribed', 'suppressed'],
  ['cancelled', 'cancelled'],
  ['erased', 'cancelled'],
  ['provider_deleted', 'cancelled'],
  ['expired', 'expired'],
  ['failed_render', 'failed_render'],
  ['outcome_unknown', null],
  ['recipient_refused', null],
  [null, null],
])('what %s stops ends as %s', async (stop, status) => {
  const { rows } = await database.owner.query('select delivery.end_for($1) as status', [stop]);
  expect(rows).toEqual([{ status }]);
});
