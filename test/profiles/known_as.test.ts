import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { connectTo } from '../base/connections.ts';
import { askToErase } from '../support/erase.ts';
import { testDatabase } from '../support/database.ts';
import { newPerson } from './people.ts';

const database = testDatabase();

test('identities are known by their identifiers until their erase is asked for; strangers by nothing', async () => {
  const ann = await newPerson(database);
  const bea = await newPerson(database, ann.projectId);
  const elsewhere = await newPerson(database);
  const client = await connectTo(database, ann.projectId);
  const ask = async () =>
    (
      await client.query('select * from profiles.known_as(project_id => $1, identity_ids => $2)', [
        ann.projectId,
        [bea.identityId, null, newId(), elsewhere.identityId, ann.identityId],
      ])
    ).rows.map(({ identity_id, kind }) => [identity_id, kind]);
  expect(await ask()).toEqual([
    [bea.identityId, 'external'],
    [ann.identityId, 'external'],
  ]);
  await askToErase(database, ann.projectId, bea.profileId);
  expect(await ask()).toEqual([[ann.identityId, 'external']]);
});
