import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { connectTo, isSettled, untilWaiting } from '../base/connections.ts';
import { newPerson, withSecondIdentity } from '../profiles/people.ts';
import { testDatabase } from '../support/database.ts';
import { TRIAL } from '../support/recorded.ts';

const database = testDatabase();
const HOLD = 'select identity_id from identity.hold_person(project_id => $1, profile_id => $2)';

test('every identity of the profile is held, in the order of all locks, and no other', async () => {
  const ann = await newPerson(database);
  const second = await withSecondIdentity(database, ann);
  await newPerson(database, ann.projectId);
  const client = await connectTo(database, ann.projectId);
  const { rows } = await client.query<{ identity_id: string }>(HOLD, [
    ann.projectId,
    ann.profileId,
  ]);
  const { rows: inOrder } = await database.owner.query(
    'select identity_id from identity.identities where identity_id = any ($1) order by kind, value',
    [[ann.identityId, second.identityId]],
  );
  expect(rows).toEqual(inOrder);
});

test('nobody of another project is held', async () => {
  const ann = await newPerson(database);
  const client = await connectTo(database, newId());
  expect((await client.query(HOLD, [ann.projectId, ann.profileId])).rows).toEqual([]);
});

test('whoever was linked while it waited is held too', async () => {
  const ann = await newPerson(database);
  const other = await newPerson(database, ann.projectId);
  const linking = await connectTo(database, ann.projectId);
  await linking.query('begin');
  await linking.query(
    `select ${TRIAL} from identity.identities where identity_id = $1 for update`,
    [ann.identityId],
  );
  await linking.query(
    `update ${TRIAL} identity.identities set profile_id = $1 where identity_id = $2`,
    [ann.profileId, other.identityId],
  );
  const holding = await connectTo(database, ann.projectId);
  const held = holding.query(HOLD, [ann.projectId, ann.profileId]);
  await untilWaiting(database);
  expect(await isSettled(held)).toBe(false);
  await linking.query('commit');
  expect((await held).rowCount).toBe(2);
});
