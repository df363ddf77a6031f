import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { connectTo, isSettled, untilWaiting } from '../base/connections.ts';
import { askToErase } from '../support/erase.ts';
import { testDatabase } from '../support/database.ts';
import { newPerson } from './people.ts';

const database = testDatabase();
const ASK =
  'select profiles.is_erased(project_id => $1, identity_id => $2, profile_id => $3) as answer';

test('a profile is erased from the moment it is asked for, and when it is gone or was never there', async () => {
  const { projectId, identityId, profileId } = await newPerson(database);
  const client = await connectTo(database, projectId);
  const ask = async (id: string, of: string | null = null) =>
    (await client.query(ASK, [projectId, of, id])).rows[0].answer;
  expect(await ask(profileId)).toBe(false);
  await askToErase(database, projectId, profileId);
  expect(await ask(profileId)).toBe(true);
  expect(await ask(newId())).toBe(true);
  const other = await newPerson(database, projectId);
  expect(await ask(other.profileId, other.identityId)).toBe(false);
  expect(await ask(other.profileId, identityId)).toBe(true);
  expect(await ask(other.profileId, newId())).toBe(true);
});

test('the answer stays true until the transaction ends: whoever erases waits', async () => {
  const { projectId, profileId } = await newPerson(database);
  const client = await connectTo(database, projectId);
  await client.query('begin');
  await client.query(ASK, [projectId, null, profileId]);
  const asked = askToErase(database, projectId, profileId);
  await untilWaiting(database);
  expect(await isSettled(asked)).toBe(false);
  await client.query('commit');
  await asked;
});

test('an identity that leaves its profile is waited for too, and may be seen meanwhile', async () => {
  const { projectId, identityId } = await newPerson(database);
  const other = await newPerson(database, projectId);
  const client = await connectTo(database, projectId);
  await client.query('begin');
  await client.query(ASK, [projectId, identityId, other.profileId]);
  const { rowCount } = await database.owner.query(
    'update identity.identities set last_seen_at = now() where identity_id = $1',
    [identityId],
  );
  expect(rowCount).toBe(1);
  const { rows } = await database.owner.query<{ profile_id: string }>(
    'select profile_id from identity.identities where identity_id = $1',
    [identityId],
  );
  const asked = askToErase(database, projectId, rows[0]?.profile_id ?? '');
  await untilWaiting(database);
  expect(await isSettled(asked)).toBe(false);
  await client.query('commit');
  await asked;
});
