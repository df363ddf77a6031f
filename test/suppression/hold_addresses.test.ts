import { expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { addressKey, eraseAddresses, holdAddresses } from '../../src/suppression/suppression.ts';
import { connectTo, isSettled, untilWaiting } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();

const keysOf = (projectId: string, ...emails: string[]): Promise<Buffer[]> =>
  inProject(database.deps, projectId, (scope) =>
    Promise.resolve(emails.map((email) => addressKey(scope, email))),
  );

test('addresses have rows to lock from now on, and are changed in nothing', async () => {
  const projectId = newId();
  const [erased, fresh] = await keysOf(projectId, 'erased@x.org', 'fresh@x.org');
  const keys = [erased, fresh].filter((key) => key !== undefined);
  await inProject(database.deps, projectId, async (scope) => {
    await eraseAddresses(scope, keys.slice(0, 1));
    await holdAddresses(scope, keys);
    await holdAddresses(scope, []);
  });
  const { rows } = await database.owner.query(
    `select address_key = $2 as erased, email, erased_at is not null as is_erased
    from suppression.addresses where project_id = $1 order by erased`,
    [projectId, erased],
  );
  expect(rows).toEqual([
    { erased: false, email: null, is_erased: false },
    { erased: true, email: null, is_erased: true },
  ]);
});

test('whoever plans a send to one of them waits; in whatever order they are given, nobody deadlocks', async () => {
  const projectId = newId();
  const keys = await keysOf(projectId, 'a@x.org', 'b@x.org', 'c@x.org');
  await inProject(database.deps, projectId, (scope) => holdAddresses(scope, keys));
  const holding = await connectTo(database, projectId);
  await holding.query('begin');
  await holding.query('select suppression.hold_addresses($1, $2)', [projectId, keys]);
  const others = [keys, keys.toReversed()].map((wanted) =>
    inProject(database.deps, projectId, (scope) => holdAddresses(scope, wanted)),
  );
  const planner = await connectTo(database, projectId);
  const planning = planner.query("select suppression.stops_mail($1, $2, 'marketing')", [
    projectId,
    keys[1],
  ]);
  await untilWaiting(database, 3);
  expect(await isSettled(planning)).toBe(false);
  await holding.query('commit');
  await Promise.all([...others, planning]);
});
