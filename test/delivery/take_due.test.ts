import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { testDatabase } from '../support/database.ts';
import { makeQueue } from './queued.ts';

const database = testDatabase();

test('the oldest of an automation come first, and no more than asked for', async () => {
  const { plan, take, sends } = await makeQueue(database);
  const ids = await plan(newId(), 4);
  for (const [at, id] of ids.entries())
    await sends.update(id, `due_at = now() - make_interval(mins => ${at + 1})`);
  expect(await take(3)).toEqual([ids[3], ids[2], ids[1]]);
  expect(await take(0)).toEqual([]);
  expect(await take(-1)).toEqual([]);
});

test('what was taken before, is leased, is not due or has expired is left', async () => {
  const { plan, take, sends } = await makeQueue(database);
  const [taken = '', leased = '', early = '', expired = '', left] = await plan(newId(), 5);
  await sends.update(leased, "lease_owner = 'w', lease_until = now() + interval '1 minute'");
  await sends.update(early, "due_at = now() + interval '1 minute'");
  await sends.update(expired, "expires_at = now() - interval '1 ms'");
  expect(await take(10, [taken])).toEqual([left]);
});

test('automations share what is taken, and what one does not need the others get', async () => {
  const { plan, take } = await makeQueue(database);
  const many = new Set(await plan(newId(), 10));
  const few = new Set(await plan(newId(), 2));
  const taken = await take(8);
  expect(taken.filter((id) => few.has(id))).toHaveLength(2);
  expect(taken.filter((id) => many.has(id))).toHaveLength(6);
});
