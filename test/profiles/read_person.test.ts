import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { testDatabase } from '../support/database.ts';
import { newPerson, tell, withSecondIdentity } from './people.ts';

const database = testDatabase();

const read = async (projectId: string, identityId: string | null, profileId: string) =>
  (
    await database.owner.query('select * from profiles.read_person($1, $2, $3, $4)', [
      projectId,
      identityId,
      profileId,
      'ann@example.com',
    ])
  ).rows;

test('says whose profile it is today, with all identities of it, whatever profile it was', async () => {
  const person = await newPerson(database);
  const { projectId, profileId, identityId } = person;
  const device = await withSecondIdentity(database, person);
  await tell(database, person, {
    traits: { email: 'ann@example.com', timezone: 'Asia/Tokyo' },
  });
  const [told, ...others] = await read(projectId, device.identityId, newId());
  expect(others).toEqual([]);
  expect(told).toEqual({
    person_id: profileId,
    identity_ids: expect.arrayContaining([identityId, device.identityId]),
    zone: 'Asia/Tokyo',
    is_confirmed: true,
  });
  expect(told.identity_ids).toHaveLength(2);
});

test('of whom no identity is known, it is the profile that is named; of nobody there is nothing to say', async () => {
  const { projectId, profileId, identityId } = await newPerson(database);
  const nobody = newId();
  expect(await read(projectId, null, profileId)).toEqual([
    { person_id: profileId, identity_ids: [identityId], zone: null, is_confirmed: false },
  ]);
  expect(await read(projectId, newId(), nobody)).toEqual([
    { person_id: nobody, identity_ids: [], zone: null, is_confirmed: false },
  ]);
});
