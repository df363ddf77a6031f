import { expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { addressKey, lockAddresses } from '../../src/suppression/suppression.ts';
import { connectTo, isSettled, untilWaiting } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();

const keysOf = (projectId: string, ...emails: string[]): Promise<Buffer[]> =>
  inProject(database.deps, projectId, (scope) =>
    Promise.resolve(emails.map((email) => addressKey(scope, email))),
  );

test('inserts what has no row, without anything that can be read, and changes nothing else', async () => {
  const projectId = newId();
  const [known, fresh] = await keysOf(projectId, 'known@x.org', 'fresh@x.org');
  await database.owner.query('select suppression.know_address($1, $2, $3)', [
    projectId,
    known,
    'known@x.org',
  ]);
  await inProject(database.deps, projectId, async (scope) => {
    await lockAddresses(
      scope,
      [known, fresh, known].filter((key) => key !== undefined),
    );
    await lockAddresses(scope, []);
  });
  const { rows } = await database.owner.query(
    'select email, suppressed_at, erased_at from suppression.addresses where project_id = $1 order by email',
    [projectId],
  );
  expect(rows).toEqual([
    { email: 'known@x.org', suppressed_at: null, erased_at: null },
    { email: null, suppressed_at: null, erased_at: null },
  ]);
});

test.each([
  ['new', false],
  ['known', true],
])(
  'two transactions with the same %s addresses in opposite order wait, and none fails',
  async (_, has) => {
    const projectId = newId();
    const keys = await keysOf(projectId, 'a@x.org', 'b@x.org', 'c@x.org');
    const first = await connectTo(database, projectId);
    const second = await connectTo(database, projectId);
    const lock = 'select suppression.lock_addresses($1, $2)';
    if (has) await first.query(lock, [projectId, keys]);
    await first.query('begin');
    await second.query('begin');
    await first.query(lock, [projectId, [...keys].reverse()]);
    const waiting = second.query(lock, [projectId, keys]);
    await untilWaiting(database);
    expect(await isSettled(waiting)).toBe(false);
    await first.query('commit');
    await waiting;
    await second.query('commit');
  },
);

test('a send that refers to a locked address can be inserted meanwhile', async () => {
  const projectId = newId();
  const [key] = await keysOf(projectId, 'a@x.org');
  await inProject(database.deps, projectId, (scope) => lockAddresses(scope, key ? [key] : []));
  const holder = await connectTo(database, projectId);
  await holder.query('begin');
  await holder.query('select suppression.lock_addresses($1, $2)', [projectId, [key]]);
  const other = await connectTo(database, projectId);
  const { rowCount } = await other.query(
    'select from suppression.addresses where project_id = $1 and address_key = $2 for key share',
    [projectId, key],
  );
  expect(rowCount).toBe(1);
});
