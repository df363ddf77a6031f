import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { connectTo, isSettled, rowsRead, untilWaiting } from '../base/connections.ts';
import { askToErase } from '../support/erase.ts';
import { testDatabase } from '../support/database.ts';
import { newPerson } from './people.ts';

const database = testDatabase();
const HOLD =
  'select profiles.hold_living(project_id => $1, identity_ids => $2, profile_ids => $3) as living';

type Person = Awaited<ReturnType<typeof newPerson>>;

const people = async (count: number) => {
  const first = await newPerson(database);
  const { projectId } = first;
  const all = [first];
  while (all.length < count) all.push(await newPerson(database, projectId));
  return { projectId, all };
};

test('somebody is living until their erase is asked for, each for themselves and in the order asked', async () => {
  const { projectId, all } = await people(3);
  const [ann, bea, cem] = all as [Person, Person, Person];
  const client = await connectTo(database, projectId);
  const ask = async (...asked: [string | null, string][]) =>
    (
      await client.query(HOLD, [
        projectId,
        asked.map(([identityId]) => identityId),
        asked.map(([, profileId]) => profileId),
      ])
    ).rows[0].living;
  await askToErase(database, projectId, bea.profileId);
  expect(
    await ask(
      [cem.identityId, cem.profileId],
      [bea.identityId, bea.profileId],
      [null, ann.profileId],
      [null, bea.profileId],
      [bea.identityId, ann.profileId],
      [newId(), ann.profileId],
      [null, newId()],
      [cem.identityId, cem.profileId],
    ),
  ).toEqual([true, false, true, false, false, false, false, true]);
});

test('an identity that leaves its profile is waited for too, and may be seen meanwhile', async () => {
  const { projectId, all } = await people(2);
  const [ann, bea] = all as [Person, Person, ...Person[]];
  const client = await connectTo(database, projectId);
  await client.query('begin');
  await client.query(HOLD, [projectId, [ann.identityId], [bea.profileId]]);
  const { rowCount } = await database.owner.query(
    'update identity.identities set last_seen_at = now() where identity_id = $1',
    [ann.identityId],
  );
  expect(rowCount).toBe(1);
  const asked = askToErase(database, projectId, ann.profileId);
  await untilWaiting(database);
  expect(await isSettled(asked)).toBe(false);
  await client.query('commit');
  await asked;
});

test('whoever erases one of many that are held waits until the transaction ends', async () => {
  const { projectId, all } = await people(3);
  const client = await connectTo(database, projectId);
  await client.query('begin');
  const identities = all.map(({ identityId }) => identityId);
  await client.query(HOLD, [projectId, identities, all.map(({ profileId }) => profileId)]);
  const asked = askToErase(database, projectId, all[1]?.profileId ?? '');
  await untilWaiting(database);
  expect(await isSettled(asked)).toBe(false);
  await client.query('commit');
  await asked;
});

test('a profile is held where nobody knows which identity it is about', async () => {
  const { projectId, all } = await people(2);
  const client = await connectTo(database, projectId);
  await client.query('begin');
  await client.query(HOLD, [projectId, [null, null], all.map(({ profileId }) => profileId)]);
  const asked = askToErase(database, projectId, all[0]?.profileId ?? '');
  await untilWaiting(database);
  expect(await isSettled(asked)).toBe(false);
  await client.query('commit');
  await asked;
});

test('nobody to hold is nothing, and two may hold the same people in any order of theirs', async () => {
  const { projectId, all } = await people(2);
  const [one, other] = [
    await connectTo(database, projectId),
    await connectTo(database, projectId),
  ] as const;
  await one.query(HOLD, [projectId, null, null]);
  const ids = [all.map(({ identityId }) => identityId), all.map(({ profileId }) => profileId)];
  await one.query('begin');
  await other.query('begin');
  await one.query(HOLD, [projectId, ...ids]);
  await other.query(HOLD, [projectId, ...ids.map((list) => list.toReversed())]);
  await other.query('commit');
  await one.query('commit');
});

test('who is held is looked up by key, also before the tables were ever analyzed', async () => {
  const { projectId, all } = await people(10);
  await database.owner.query(
    `insert into identity.identities (project_id, identity_id, kind, value, profile_id, own_profile_id)
    select $1, gen_random_uuid(), 'external', 'other' || n, gen_random_uuid(), gen_random_uuid()
    from generate_series(1, 2000) as n`,
    [projectId],
  );
  const client = await connectTo(database, projectId);
  await client.query('begin');
  const ids = [all.map(({ identityId }) => identityId), all.map(({ profileId }) => profileId)];
  await client.query(HOLD, [projectId, ...ids]);
  expect(await rowsRead(client, 'identity.identities')).toBeLessThan(100);
  expect(await rowsRead(client, 'profiles.profiles')).toBeLessThan(100);
  await client.query('rollback');
});
