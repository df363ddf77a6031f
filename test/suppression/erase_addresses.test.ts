import { expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import type { Scope } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import {
  addressKey,
  eraseAddresses,
  eraseNotes,
  findByEmail,
  isOnList,
  suppress,
  unsubscribe,
} from '../../src/suppression/suppression.ts';
import { connectTo, isSettled, untilWaiting } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();

const EMAIL = 'ann@example.com';
const within = <T>(projectId: string, work: (scope: Scope) => Promise<T>) =>
  inProject(database.deps, projectId, work);
const erase = (projectId: string, ...emails: string[]) =>
  within(projectId, (scope) =>
    eraseAddresses(
      scope,
      emails.map((email) => addressKey(scope, email)),
    ),
  );
const bounce = (projectId: string, email = EMAIL) =>
  within(projectId, (scope) => suppress(scope, { email, reason: 'hard_bounce', source: 'x' }));
const know = (projectId: string, email = EMAIL) =>
  within(projectId, (scope) =>
    connectTo(database, projectId).then((client) =>
      client.query('select suppression.know_address($1, $2, $3)', [
        projectId,
        addressKey(scope, email),
        email,
      ]),
    ),
  );
const read = async (projectId: string) =>
  (
    await database.owner.query(
      'select email, reason, erased_at is not null as erased from suppression.addresses where project_id = $1',
      [projectId],
    )
  ).rows;

test('a suppressed address stays suppressed and cannot be read any more', async () => {
  const projectId = newId();
  await bounce(projectId);
  expect(await erase(projectId, EMAIL)).toBe(1);
  expect(await read(projectId)).toEqual([{ email: null, reason: 'hard_bounce', erased: true }]);
  expect(await within(projectId, (scope) => isOnList(scope, EMAIL))).toBe(true);
});

test('one that is suppressed after it was erased is suppressed unread', async () => {
  const projectId = newId();
  expect(await erase(projectId, EMAIL)).toBe(0);
  await bounce(projectId);
  await within(projectId, (scope) =>
    suppress(scope, { email: EMAIL, reason: 'complaint', source: 'x' }),
  );
  expect(await read(projectId)).toEqual([{ email: null, reason: 'complaint', erased: true }]);
});

test('one that a living person brings can be read again', async () => {
  const projectId = newId();
  await erase(projectId, EMAIL);
  await know(projectId);
  expect(await read(projectId)).toEqual([{ email: EMAIL, reason: null, erased: false }]);
  await know(projectId, 'ANN@example.com');
  expect(await read(projectId)).toMatchObject([{ email: EMAIL }]);
});

test('erasing twice is as once, and nobody else is touched', async () => {
  const projectId = newId();
  await bounce(projectId);
  await bounce(projectId, 'bob@example.com');
  expect([await erase(projectId, EMAIL), await erase(projectId, EMAIL)]).toEqual([1, 0]);
  expect(await read(projectId)).toContainEqual({
    email: 'bob@example.com',
    reason: 'hard_bounce',
    erased: false,
  });
});

test('a suppression that is being written is waited for, and erased', async () => {
  const projectId = newId();
  const writing = await connectTo(database, projectId);
  await writing.query('begin');
  await within(projectId, (scope) =>
    writing.query(
      `select suppression.suppress_address($1, $2, $3, gen_random_uuid(), 'complaint', 'x', now())`,
      [projectId, addressKey(scope, EMAIL), EMAIL],
    ),
  );
  const erased = erase(projectId, EMAIL);
  await untilWaiting(database);
  expect(await isSettled(erased)).toBe(false);
  await writing.query('commit');
  expect(await erased).toBe(1);
  expect(await read(projectId)).toEqual([{ email: null, reason: 'complaint', erased: true }]);
});

test('what people wrote about an address goes, and who unsubscribed stays so', async () => {
  const projectId = newId();
  await within(projectId, (scope) =>
    unsubscribe(scope, { email: EMAIL, source: 'api', note: 'Ann said so' }),
  );
  await erase(projectId, EMAIL);
  const notes = await within(projectId, (scope) => eraseNotes(scope, [addressKey(scope, EMAIL)]));
  expect(notes).toBe(1);
  const known = await within(projectId, (scope) => findByEmail(scope, EMAIL));
  expect(known).toMatchObject({ email: null, unsubscribed_at: expect.any(Date) });
  await within(projectId, (scope) =>
    suppress(scope, { email: EMAIL, reason: 'manual', source: 'api', note: 'Ann again' }),
  );
  const { rows } = await database.owner.query(
    'select change, note from suppression.history where project_id = $1 order by changed_at',
    [projectId],
  );
  expect(rows).toEqual([
    { change: 'unsubscribed', note: null },
    { change: 'suppressed', note: null },
  ]);
});
