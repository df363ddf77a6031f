// Of somebody with very many ids so many are shown, and everything else is of all of them.
import { beforeAll, describe, expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { labelProfiles } from '../../src/profiles/labels.ts';
import { listNames, listProfiles } from '../../src/profiles/profiles.ts';
import { IDENTIFIERS_SHOWN_MAX } from '../../src/profiles/schema.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const projectId = newId();

/** Somebody with so many devices besides their own id; the last of the devices was there first, and last. */
const make = async (devices: number): Promise<string> => {
  const profileId = newId();
  await database.owner.query(
    `insert into profiles.profiles (project_id, profile_id, created_at, updated_at) values ($1, $2, now(), now())`,
    [projectId, profileId],
  );
  await database.owner.query(
    `insert into identity.identities (project_id, identity_id, kind, value, profile_id, own_profile_id, first_seen_at,
       last_seen_at)
     select $1, gen_random_uuid(), case at when 0 then 'external' else 'anonymous' end,
       $2::uuid::text || lpad(at::text, 6, '0'), $2::uuid, gen_random_uuid(),
       timestamptz '2026-01-31T12:00:00Z' - make_interval(hours => at),
       timestamptz '2026-01-31T12:00:00Z' + make_interval(hours => at)
     from generate_series(0, $3::int) as at`,
    [projectId, profileId, devices],
  );
  return profileId;
};

let ids: { whole: string; cut: string };
beforeAll(async () => {
  ids = { whole: await make(IDENTIFIERS_SHOWN_MAX - 1), cut: await make(IDENTIFIERS_SHOWN_MAX) };
});

const read = (value: string) =>
  inProject(
    database.deps,
    projectId,
    async (scope) => (await listProfiles(scope, { by: 'id', value }))[0],
  );

describe.each([
  ['whole', IDENTIFIERS_SHOWN_MAX - 1],
  ['cut', IDENTIFIERS_SHOWN_MAX],
] as const)('%s', (name, hours) => {
  test('their own id comes first, and they were seen by any of them', async () => {
    const profile = await read(ids[name]);
    expect(profile?.identifiers).toHaveLength(IDENTIFIERS_SHOWN_MAX);
    expect(profile?.identifiers[0]).toMatchObject({
      kind: 'external',
      value: `${ids[name]}000000`,
    });
    expect(profile?.external_id).toBe(`${ids[name]}000000`);
    const noon = Date.parse('2026-01-31T12:00:00Z');
    expect(
      [profile?.first_seen_at, profile?.last_seen_at].map((at) => Date.parse(at ?? '')),
    ).toEqual([noon - hours * 3_600_000, noon + hours * 3_600_000]);
  });

  test('they are called by their own id', async () => {
    const [labels, names] = await inProject(database.deps, projectId, async (scope) => [
      await labelProfiles(scope, [ids[name]]),
      await listNames(scope, [{ by: 'id', value: ids[name] }], 1),
    ]);
    expect(labels.get(ids[name])?.external_id).toBe(`${ids[name]}000000`);
    expect(names).toEqual([[{ kind: 'external', value: `${ids[name]}000000` }]]);
  });
});
