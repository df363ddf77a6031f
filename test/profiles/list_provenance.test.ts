import { beforeAll, describe, expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { readForEmail } from '../../src/profiles/profiles.ts';
import { testDatabase } from '../support/database.ts';
import { PLAN_MODES, withRowsRead } from '../support/rows_read.ts';
import { newPerson, tell, withSecondIdentity } from './people.ts';
import type { Someone } from './people.ts';

const database = testDatabase();
const EMAIL = 'ann@example.com';
const read = async (
  { projectId, identityId, profileId }: Someone,
  email: string | null = EMAIL,
) => {
  const [found] = await inProject(database.deps, projectId, (scope) =>
    readForEmail(scope, [{ identityId, profileId, email }]),
  );
  return found;
};

test('a trait is a browser’s where the word that wins came with a publishable key', async () => {
  const ann = await newPerson(database);
  await tell(database, ann, { authority: 'publishable', traits: { color: 'red', size: 'M' } });
  await tell(database, ann, { traits: { size: 'L', email: EMAIL } });
  const other = await withSecondIdentity(database, ann);
  await tell(database, other, { authority: 'publishable', traits: { size: 'S', pet: 'cat' } });
  const found = await read(ann);
  expect(found?.browserNames.toSorted()).toEqual(['color', 'pet']);
  expect(found?.asserted).toBeNull();
});

test('an address that only a browser asserted is unconfirmed; a person without one needs no confirmation', async () => {
  const ann = await newPerson(database);
  expect((await read(ann, null))?.asserted).toBeNull();
  await tell(database, ann, { authority: 'publishable', traits: { email: EMAIL } });
  expect((await read(ann))?.asserted).toMatchObject({ traits: { email: EMAIL } });
  expect((await read(ann, null))?.asserted).toMatchObject({ traits: { email: EMAIL } });
  await tell(database, ann, { traits: { email: EMAIL } });
  expect((await read(ann))?.asserted).toBeNull();
});

test('the person is whoever the identity belongs to now', async () => {
  const ann = await newPerson(database);
  await tell(database, ann, { traits: { email: EMAIL, name: 'Ann' } });
  const device = await withSecondIdentity(database, ann);
  const former = await newPerson(database, ann.projectId);
  const found = await read({ ...device, profileId: former.profileId });
  expect(found?.profile.traits).toMatchObject({ name: 'Ann' });
});

test('a profile of which nothing was folded since names are kept: they are computed', async () => {
  const ann = await newPerson(database);
  await tell(database, ann, { authority: 'publishable', traits: { color: 'red', size: 'M' } });
  await tell(database, ann, { traits: { size: 'L' } });
  await database.owner.query('update profiles.profiles set browser_names = null');
  expect((await read(ann, null))?.browserNames).toEqual(['color']);
});

test('two emails to one person, one to an address that a server confirmed: each by its own', async () => {
  const ann = await newPerson(database);
  await tell(database, ann, { traits: { email: EMAIL, name: 'Ann' } });
  const addressee = (email: string) => ({ ...ann, email });
  const found = await inProject(database.deps, ann.projectId, (scope) =>
    readForEmail(scope, [addressee('eve@example.com'), addressee(EMAIL)]),
  );
  expect(found.map((one) => one?.asserted ?? null)).toEqual([
    { traits: {}, browserKey: null },
    null,
  ]);
});

describe('at the size where a scan would hurt', () => {
  const projectId = newId();
  const PEOPLE = 5_000;
  const idOf = (at: number, part: string) =>
    `00000000-0000-7000-${part}-${`${at}`.padStart(12, '0')}`;

  beforeAll(async () => {
    const idsOf = (part: string) =>
      `('00000000-0000-7000-${part}-' || lpad(at::text, 12, '0'))::uuid`;
    const query = (text: string) => database.owner.query(text, [projectId, PEOPLE]);
    await query(`
      insert into profiles.profiles (project_id, profile_id, email, created_at, updated_at)
      select $1, ${idsOf('8000')}, 'p' || at || '@x.test', now(), now() from generate_series(1, $2::int) as at`);
    await query(`
      insert into identity.identities (project_id, identity_id, kind, value, profile_id, own_profile_id)
      select $1, ${idsOf('9000')}, 'external', 'p' || at, ${idsOf('8000')}, ${idsOf('8000')}
      from generate_series(1, $2::int) as at`);
    await query(`
      insert into profiles.traits (project_id, identity_id, key, value, set_at, authority)
      select $1, ${idsOf('9000')}, key, '"x"', now(), 'publishable'
      from generate_series(1, $2::int) as at cross join unnest('{a,b,c,d,e,f,g,h}'::text[]) as key`);
    for (const table of ['profiles.profiles', 'identity.identities', 'profiles.traits'])
      await database.owner.query(`analyze ${table}`);
  });

  test.each(
    PLAN_MODES.flatMap((mode) =>
      (
        [
          ['profiles.profiles', 2],
          ['identity.identities', 3],
          ['profiles.traits', 0],
        ] as const
      ).map(([table, most]) => [mode, table, most] as const),
    ),
  )('%s: rows of %s that a batch reads for each email: at most %i', async (mode, table, most) => {
    const addressees = Array.from({ length: 50 }, (_, at) => ({
      identityId: idOf(at * 90 + 1, '9000'),
      profileId: idOf(at * 90 + 1, '8000'),
      email: `p${at * 90 + 1}@x.test`,
    }));
    const { answer, read } = await withRowsRead(database, { projectId, table, mode }, (scope) =>
      readForEmail(scope, addressees),
    );
    expect(answer.every((one) => one !== null)).toBe(true);
    expect(read).toBeLessThanOrEqual(most * addressees.length);
  });
});
