import { expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { countErased } from '../../src/profiles/profiles.ts';
import { insertProfiles } from '../../src/profiles/queries.ts';
import { connectTo } from '../base/connections.ts';
import { eraseNow } from '../support/erase.ts';
import { refusalOf } from '../support/refusal_of_sql.ts';
import { testDatabase } from '../support/database.ts';
import { newPerson } from './people.ts';

const database = testDatabase();

const count = async (projectId: string, profileId: string) =>
  (
    await database.owner.query(
      'select from profiles.profiles where profile_id = $1 and project_id = $2',
      [profileId, projectId],
    )
  ).rowCount;

test('profiles are made once', async () => {
  const [projectId, profileId] = [newId(), newId()];
  for (let time = 0; time < 2; time += 1)
    await inProject(database.deps, projectId, (scope) => insertProfiles(scope, [profileId], 0));
  expect(await count(projectId, profileId)).toBe(1);
});

test('with a number from before an erase the transaction is told to begin again', async () => {
  const { projectId, profileId } = await newPerson(database);
  await eraseNow(database, projectId, profileId);
  const client = await connectTo(database, projectId);
  const make = (before: string) =>
    refusalOf(
      client,
      `select profiles.make_profiles(project_id => '${projectId}', profile_ids => array['${newId()}'::uuid],
        erased_before => ${before})`,
    );
  expect(await make('0')).toBe('a person was erased meanwhile');
  expect([await make('1'), await make('null')]).toEqual(['', '']);
  await inProject(database.deps, projectId, async (scope) => {
    expect(await countErased(scope)).toBe(1);
  });
});
