import { expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { addressKey, eraseAddresses, holdAddress } from '../../src/suppression/suppression.ts';
import { connectTo, isSettled, untilWaiting } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const EMAIL = 'ann@example.com';

const keyOf = (projectId: string): Promise<Buffer> =>
  inProject(database.deps, projectId, (scope) => Promise.resolve(addressKey(scope, EMAIL)));

test('an address has a row from the first time anybody is told of it, and says whether it was erased', async () => {
  const projectId = newId();
  const key = await keyOf(projectId);
  await inProject(database.deps, projectId, async (scope) => {
    expect(await holdAddress(scope, key)).toBe(false);
    expect(await holdAddress(scope, key)).toBe(false);
    await eraseAddresses(scope, [key]);
    expect(await holdAddress(scope, key)).toBe(true);
  });
});

test('whoever erases it waits for who holds it, and so does who is told of it too', async () => {
  const projectId = newId();
  const key = await keyOf(projectId);
  const holding = await connectTo(database, projectId);
  await holding.query('begin');
  await holding.query('select suppression.hold_address($1, $2)', [projectId, key]);
  const erased = inProject(database.deps, projectId, (scope) => eraseAddresses(scope, [key]));
  const held = inProject(database.deps, projectId, (scope) => holdAddress(scope, key));
  await untilWaiting(database, 2);
  expect([await isSettled(erased), await isSettled(held)]).toEqual([false, false]);
  await holding.query('commit');
  await Promise.all([erased, held]);
});
