// Many people may have one address: each is shown as they are, and together they are asked for once.
import { expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import type { Scope } from '../../src/base/db.ts';
import { newId, timeOfId } from '../../src/base/ids.ts';
import { listProfiles } from '../../src/profiles/profiles.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const ADDRESS = 'all@shop.test';

/** So many people of a new project; the first of them has no id any more. */
const make = async (people: number) => {
  const projectId = newId();
  const ids = Array.from({ length: people }, newId);
  await database.owner.query(
    `insert into profiles.profiles (project_id, profile_id, email, created_at, updated_at)
     select $1, profile_id, $2, now(), now() from unnest($3::uuid[]) as profile_id`,
    [projectId, ADDRESS, ids],
  );
  await database.owner.query(
    `insert into identity.identities (project_id, identity_id, kind, value, profile_id, own_profile_id, first_seen_at,
       last_seen_at)
     select $1, gen_random_uuid(), 'external', profile_id::text, profile_id, profile_id,
       timestamptz '2026-01-31T12:00:00Z', timestamptz '2026-02-01T12:00:00Z'
     from unnest($2::uuid[]) as profile_id`,
    [projectId, ids.slice(1)],
  );
  return { projectId, ids };
};

/** The people of the address, and how many statements it took. */
const list = ({ projectId }: { projectId: string }) =>
  inProject(database.deps, projectId, async (scope) => {
    let statements = 0;
    const tx = new Proxy(scope.tx, {
      get: (target, name, receiver) => {
        statements += 1;
        return Reflect.get(target, name, receiver) as unknown;
      },
    });
    const counted: Scope = { ...scope, tx };
    return { people: await listProfiles(counted, { by: 'email', value: ADDRESS }), statements };
  });

test('each has their own ids and times; who has none was seen when we came to know of them', async () => {
  const made = await make(3);
  const { people } = await list(made);
  const [first = '', ...others] = made.ids;
  const known = timeOfId(first).toISOString();
  expect(people).toMatchObject([
    { id: first, external_id: null, identifiers: [], first_seen_at: known, last_seen_at: known },
    ...others.map((id) => ({
      id,
      external_id: id,
      identifiers: [{ kind: 'external', value: id }],
      first_seen_at: '2026-01-31T12:00:00.000Z',
      last_seen_at: '2026-02-01T12:00:00.000Z',
    })),
  ]);
});

test('a hundred of them take as many statements as two', async () => {
  const [two, hundred] = [await list(await make(2)), await list(await make(100))];
  expect([two.people.length, hundred.people.length]).toEqual([2, 100]);
  expect(hundred.statements).toBe(two.statements);
});
