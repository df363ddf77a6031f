import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { testDatabase } from '../support/database.ts';
import { makeQueue } from './queued.ts';

const database = testDatabase();

test('each automation once, of this provider and priority', async () => {
  const { plan, list, sends } = await makeQueue(database);
  const [a, b, ended] = [newId(), newId(), newId()];
  await plan(b, 3);
  await plan(a, 2);
  await plan(newId(), 1, newId());
  for (const id of await plan(ended, 2)) await sends.update(id, "status = 'cancelled'");
  expect(await list(2)).toEqual([a, b]);
  expect([await list(0), await list(3)]).toEqual([[], []]);
});
