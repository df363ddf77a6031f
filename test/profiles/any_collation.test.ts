// Which of two values wins a tie does not depend on the language that a server sorts in.
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, inject, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { Keys } from '../../src/base/keys.ts';
import { migrate } from '../../src/runtime/migrate.ts';
import { databaseUrl, waitUntilUnused } from '../../src/runtime/scratch_postgres.ts';
import { withClient } from '../../src/runtime/with_client.ts';
import { DEFAULTS } from '../support/defaults.ts';
import { TEST_MASTER_KEY } from '../support/secrets.ts';

const name = `test_${randomBytes(6).toString('hex')}`;
const NO_ICU = 'this Postgres was built without ICU: it has no collation to differ by';
let client: pg.Client | undefined;

const makeDatabase = (serverUrl: string): Promise<boolean> =>
  withClient(serverUrl, async (admin) => {
    const icu = await admin.query(`select from pg_collation where collprovider = 'i' limit 1`);
    if (icu.rowCount === 0) return false;
    await admin.query(
      `create database ${name} template template0 encoding 'UTF8' locale_provider icu icu_locale 'en-US' locale 'C'`,
    );
    return true;
  });

/** A database that sorts as people do: "a" before "B". */
beforeAll(async () => {
  const serverUrl = inject('serverUrl');
  if (!(await makeDatabase(serverUrl))) return;
  const url = databaseUrl(serverUrl, name);
  const keys = new Keys(Buffer.from(TEST_MASTER_KEY, 'hex'));
  await migrate({ config: { ...DEFAULTS, ownerDatabaseUrl: url }, keys });
  client = new pg.Client({ connectionString: url });
  await client.connect();
});

beforeEach(({ skip }) => skip(client === undefined, NO_ICU));

afterAll(async () => {
  if (!client) return;
  await client.end();
  await withClient(inject('serverUrl'), async (admin) => {
    await waitUntilUnused(admin, name);
    await admin.query(`drop database ${name}`);
  });
});

const query = async (text: string, values: unknown[] = []) => {
  if (!client) throw new Error(NO_ICU);
  return (await client.query(text, values)).rows;
};

/** Identities of one profile. */
const people = async (count: number) => {
  const [projectId, profileId] = [newId(), newId()];
  await query("select set_config('trunkline.project_id', $1, false)", [projectId]);
  await query(
    'insert into profiles.profiles (project_id, profile_id, created_at, updated_at) values ($1, $2, now(), now())',
    [projectId, profileId],
  );
  const ids = Array.from({ length: count }, () => newId());
  for (const id of ids)
    await query(
      `insert into identity.identities (project_id, identity_id, kind, value, profile_id, own_profile_id)
      values ($1, $2, 'external', $3, $4, $4)`,
      [projectId, id, id, profileId],
    );
  return { projectId, profileId, ids };
};
const tell = async (projectId: string, identityId: string | undefined, value: string) => {
  await query(
    `select profiles.set_traits($1, $2, jsonb_build_object('plan', $3::text), '2026-01-31T12:00:00Z', 'server')`,
    [projectId, identityId, value],
  );
};
const planOf = async (projectId: string, profileId: string) => {
  await query('select profiles.fold_profile($1, $2, now())', [projectId, profileId]);
  const rows = await query(
    'select traits from profiles.profiles where project_id = $1 and profile_id = $2',
    [projectId, profileId],
  );
  return rows[0].traits.plan;
};

test('the database at hand does sort otherwise', async () => {
  const rows = await query(`select 'a' < 'B' as here, 'a' < 'B' collate "C" as bytes`);
  expect(rows).toEqual([{ here: true, bytes: false }]);
});

test('told to one identity, in either order, the greater by bytes is kept', async () => {
  for (const values of [
    ['a', 'B'],
    ['B', 'a'],
  ]) {
    const { projectId, profileId, ids } = await people(1);
    for (const value of values) await tell(projectId, ids[0], value);
    expect(await planOf(projectId, profileId)).toBe('a');
  }
});

test('told to two identities, in either order, the greater by bytes is shown', async () => {
  for (const values of [
    ['a', 'B'],
    ['B', 'a'],
  ] as const) {
    const { projectId, profileId, ids } = await people(2);
    await tell(projectId, ids[0], values[0]);
    await tell(projectId, ids[1], values[1]);
    expect(await planOf(projectId, profileId)).toBe('a');
  }
});
