import { expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { listConfirmed } from '../../src/profiles/profiles.ts';
import { askToErase } from '../support/erase.ts';
import { testDatabase } from '../support/database.ts';
import { newPerson, tell, withSecondIdentity } from './people.ts';
import type { Someone } from './people.ts';

const database = testDatabase();
const ANN = 'ann@example.com';

const isConfirmed = async ({ projectId, profileId }: Someone, email: string | null = ANN) =>
  (
    await inProject(database.deps, projectId, (scope) =>
      listConfirmed(scope, [{ profileId, email }]),
    )
  ).has(profileId);
const says = (person: Someone, authority: 'server' | 'publishable', email: string | null = ANN) =>
  tell(database, person, { traits: { email }, authority });

test('an address is confirmed once a server has said it, and not by any browser', async () => {
  const person = await newPerson(database);
  expect(await isConfirmed(person)).toBe(false);
  await says(person, 'publishable');
  expect(await isConfirmed(person)).toBe(false);
  await says(person, 'server');
  expect(await isConfirmed(person)).toBe(true);
  await says(person, 'publishable', 'eve@example.com');
  expect(await isConfirmed(person)).toBe(true);
  expect(await isConfirmed(person, 'eve@example.com')).toBe(false);
});

test('it is the same address in whatever letters, and with space around it', async () => {
  const person = await newPerson(database);
  await says(person, 'server', ' Ann@Example.COM ');
  expect(await isConfirmed(person)).toBe(true);
});

test('what a server said of a linked identity counts, until that leaves', async () => {
  const person = await newPerson(database);
  const device = await withSecondIdentity(database, person);
  await says(person, 'publishable');
  await says(device, 'server');
  expect(await isConfirmed(person)).toBe(true);
  await database.owner.query(
    'update identity.identities set profile_id = own_profile_id where identity_id = $1',
    [device.identityId],
  );
  expect(await isConfirmed(person)).toBe(false);
});

test('of one person it says nothing about another, also of whoever types in the same address', async () => {
  const ann = await newPerson(database);
  const eve = await newPerson(database, ann.projectId);
  await says(ann, 'server');
  await says(eve, 'publishable');
  expect([await isConfirmed(ann), await isConfirmed(eve)]).toEqual([true, false]);
});

test('whoever is being erased has said nothing; nobody has no address', async () => {
  const person = await newPerson(database);
  await says(person, 'server');
  expect(await isConfirmed(person, null)).toBe(false);
  await askToErase(database, person.projectId, person.profileId);
  expect(await isConfirmed(person)).toBe(false);
});
