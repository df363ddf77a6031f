import { expect, test } from 'vitest';
import { testDatabase } from '../support/database.ts';
import { newPerson, tell } from './people.ts';

const database = testDatabase();

test('the places of addresses that a server said, also where a person has several places', async () => {
  const ann = await newPerson(database);
  const ben = await newPerson(database, ann.projectId);
  await tell(database, ann, { traits: { email: 'ann@example.com' } });
  await tell(database, ben, { traits: { email: 'ben@example.com' }, authority: 'publishable' });
  const { rows } = await database.owner.query<{ place: string }>(
    'select place from profiles.list_confirmed_places($1, $2, $3) as place order by place',
    [
      ann.projectId,
      [ann, ben, ann, ann].map(({ profileId }) => profileId),
      ['eve@example.com', 'ben@example.com', 'Ann@example.com', null],
    ],
  );
  expect(rows.map(({ place }) => Number(place))).toEqual([3]);
});
