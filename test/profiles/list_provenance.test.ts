import { expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { readForEmail } from '../../src/profiles/profiles.ts';
import { testDatabase } from '../support/database.ts';
import { newPerson, tell, withSecondIdentity } from './people.ts';
import type { Someone } from './people.ts';

const database = testDatabase();
const EMAIL = 'ann@example.com';
const read = async (
  { projectId, identityId, profileId }: Someone,
  email: string | null = EMAIL,
) => {
  const [found] = await inProject(database.deps, projectId, (scope) =>
    readForEmail(scope, [{ identityId, profileId, email }]),
  );
  return found;
};

test('a trait is a browser’s where the word that wins came with a publishable key', async () => {
  const ann = await newPerson(database);
  await tell(database, ann, { authority: 'publishable', traits: { color: 'red', size: 'M' } });
  await tell(database, ann, { traits: { size: 'L', email: EMAIL } });
  const other = await withSecondIdentity(database, ann);
  await tell(database, other, { authority: 'publishable', traits: { size: 'S', pet: 'cat' } });
  const found = await read(ann);
  expect(found?.browserNames.toSorted()).toEqual(['color', 'pet']);
  expect(found?.asserted).toBeNull();
});

test('an address that only a browser asserted is unconfirmed; a person without one needs no confirmation', async () => {
  const ann = await newPerson(database);
  expect((await read(ann, null))?.asserted).toBeNull();
  await tell(database, ann, { authority: 'publishable', traits: { email: EMAIL } });
  expect((await read(ann))?.asserted).toMatchObject({ traits: { email: EMAIL } });
  expect((await read(ann, null))?.asserted).toMatchObject({ traits: { email: EMAIL } });
  await tell(database, ann, { traits: { email: EMAIL } });
  expect((await read(ann))?.asserted).toBeNull();
});

test('the person is whoever the identity belongs to now', async () => {
  const ann = await newPerson(database);
  await tell(database, ann, { traits: { email: EMAIL, name: 'Ann' } });
  const device = await withSecondIdentity(database, ann);
  const former = await newPerson(database, ann.projectId);
  const found = await read({ ...device, profileId: former.profileId });
  expect(found?.profile.traits).toMatchObject({ name: 'Ann' });
});
