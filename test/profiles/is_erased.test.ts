import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { connectTo, isSettled, untilWaiting } from '../base/connections.ts';
import { askToErase } from '../support/erase.ts';
import { testDatabase } from '../support/database.ts';
import { newPerson } from './people.ts';

const database = testDatabase();
const ASK = 'select profiles.is_erased(project_id => $1, profile_id => $2) as answer';

test('a profile is erased from the moment it is asked for, and when it is gone or was never there', async () => {
  const { projectId, profileId } = await newPerson(database);
  const client = await connectTo(database, projectId);
  const ask = async (id: string) => (await client.query(ASK, [projectId, id])).rows[0].answer;
  expect(await ask(profileId)).toBe(false);
  await askToErase(database, projectId, profileId);
  expect(await ask(profileId)).toBe(true);
  expect(await ask(newId())).toBe(true);
});

test('the answer stays true until the transaction ends: whoever erases waits', async () => {
  const { projectId, profileId } = await newPerson(database);
  const client = await connectTo(database, projectId);
  await client.query('begin');
  await client.query(ASK, [projectId, profileId]);
  const asked = askToErase(database, projectId, profileId);
  await untilWaiting(database);
  expect(await isSettled(asked)).toBe(false);
  await client.query('commit');
  await asked;
});
