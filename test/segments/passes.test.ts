import { expect, test } from 'vitest';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const passes = async (properties: object, filters: object[]) => {
  const { rows } = await database.owner.query(
    'select segments.passes(properties => $1, filters => $2)',
    [JSON.stringify(properties), JSON.stringify(filters)],
  );
  return rows[0];
};
const plan = { property: 'plan', test: { is: 'equals', value: 'pro' } };
const seats = { property: 'seats', test: { is: 'greater', value: 4 } };

test('an event passes when it passes every filter; without any, always', async () => {
  expect(await passes({}, [])).toEqual({ passes: true });
  expect(await passes({ plan: 'pro', seats: 5 }, [plan, seats])).toEqual({ passes: true });
  expect(await passes({ plan: 'pro', seats: 4 }, [plan, seats])).toEqual({ passes: false });
  expect(await passes({ seats: 5 }, [plan, seats])).toEqual({ passes: false });
});
