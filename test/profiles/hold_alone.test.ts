import { expect, test } from 'vitest';
import { connectTo, isSettled, untilWaiting } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';
import { newPerson, withSecondIdentity } from './people.ts';

const database = testDatabase();
const HOLD =
  'select profiles.hold_living(project_id => $1, identity_ids => $2, profile_ids => $3, is_alone => $4) as living';

test('whoever is held alone is held by nobody else, by whatever profile they are named', async () => {
  const person = await newPerson(database);
  const { projectId, profileId } = person;
  const other = await newPerson(database, projectId);
  const device = await withSecondIdentity(database, person);
  const first = await connectTo(database, projectId);
  const second = await connectTo(database, projectId);
  await first.query('begin');
  // The profile that the device had before it was linked.
  const alone = await first.query(HOLD, [projectId, [device.identityId], [other.profileId], true]);
  expect(alone.rows).toEqual([{ living: [true] }]);
  await second.query('begin');
  const holding = second.query(HOLD, [projectId, [person.identityId], [profileId], true]);
  await untilWaiting(database);
  expect(await isSettled(holding)).toBe(false);
  await first.query('commit');
  expect((await holding).rows).toEqual([{ living: [true] }]);
  await second.query('rollback');
});

test('people are held alone by the profile that they have once their identities are held', async () => {
  const person = await newPerson(database);
  const { projectId, profileId, identityId } = person;
  const into = await newPerson(database, projectId);
  const linking = await connectTo(database, projectId);
  await linking.query('begin');
  await linking.query(
    'select from identity.identities where project_id = $1 and identity_id = $2 for update',
    [projectId, identityId],
  );
  const holder = await connectTo(database, projectId);
  await holder.query('begin');
  const holding = holder.query(HOLD, [projectId, [identityId], [profileId], true]);
  await untilWaiting(database);
  await linking.query(
    'update identity.identities set profile_id = $3 where project_id = $1 and identity_id = $2',
    [projectId, identityId, into.profileId],
  );
  await linking.query('commit');
  await holding;
  const asking = linking.query(
    'select from profiles.profiles where project_id = $1 and profile_id = $2 for share nowait',
    [projectId, into.profileId],
  );
  await expect(asking).rejects.toThrow(/could not obtain lock/);
  await holder.query('rollback');
});

test('many who hold the same people alone, in any order of theirs, wait in no circle', async () => {
  const first = await newPerson(database);
  const all = [first];
  while (all.length < 6) all.push(await newPerson(database, first.projectId));
  const clients = await Promise.all(
    Array.from({ length: 4 }, () => connectTo(database, first.projectId)),
  );
  const held = await Promise.all(
    clients.map(async (client, at) => {
      for (let round = 0; round < 20; round += 1) {
        const people = all.toSorted(() => Math.random() - 0.5).slice(at % 2);
        await client.query(HOLD, [
          first.projectId,
          people.map(({ identityId }) => identityId),
          people.map(({ profileId }) => profileId),
          at % 2 === 0,
        ]);
      }
      return true;
    }),
  );
  expect(held).toEqual([true, true, true, true]);
});
