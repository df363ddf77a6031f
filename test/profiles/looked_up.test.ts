// Whoever is looked for costs by their own rows, however many others there are.
import { beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { inProject, sql } from '../../src/base/db.ts';
import type { Scope } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { listShared } from '../../src/profiles/address_queries.ts';
import { holdByAddress, listByEmail } from '../../src/profiles/queries.ts';
import { connectTo, rowsRead } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const projectId = newId();
const OTHERS = 2_000;

beforeAll(async () => {
  await database.owner.query(
    `insert into profiles.profiles (project_id, profile_id, email, created_at, updated_at)
     select $1, gen_random_uuid(), 'other' || n || '@example.com', now(), now() from generate_series(1, $2::int) n`,
    [projectId, OTHERS],
  );
  await database.owner.query(
    `insert into identity.identities (project_id, identity_id, kind, value, profile_id, own_profile_id)
     select $1, gen_random_uuid(), kind, kind || n, gen_random_uuid(), gen_random_uuid()
     from generate_series(1, $2::int) n cross join unnest('{external,anonymous}'::text[]) as kind`,
    [projectId, OTHERS],
  );
  await database.owner.query(
    `insert into identity.links (project_id, link_id, anonymous_identity_id, external_identity_id, anonymous_id,
       external_id, profile_id, anonymous_profile_id, source, key_type, status, created_at)
     select $1, gen_random_uuid(), device.identity_id, person.identity_id, device.value, person.value,
       person.profile_id, device.profile_id, 'alias', 'server', 'active', now()
     from identity.identities as device
     join identity.identities as person on person.value = replace(device.value, 'anonymous', 'external')
     where device.kind = 'anonymous' and device.project_id = $1`,
    [projectId],
  );
  await database.owner.query('analyze');
});

test('who has an address is looked up by the address', async () => {
  const read = ({ tx }: Scope) =>
    tx.oneFirst(sql.type(z.strictObject({ read: z.int() }))`
      select (idx_tup_fetch + coalesce(seq_tup_read, 0))::integer as read from pg_stat_xact_all_tables
      where relid = 'profiles.profiles'::regclass
    `);
  await inProject(database.deps, projectId, async (scope) => {
    const emails = ['other7@example.com', 'other8@example.com', 'nobody@example.com'];
    expect((await listShared(scope, emails)).toSorted()).toEqual(emails.slice(0, 2));
    expect(await read(scope)).toBe(2);
    const page = { limit: 50, afterId: null };
    expect(await listByEmail(scope, 'other9@example.com', page)).toHaveLength(1);
    expect(await read(scope)).toBe(3);
    await holdByAddress(scope, ['other9@example.com']);
    expect(await read(scope)).toBe(4);
  });
});

test('links that lead to an identity are looked up by the identity', async () => {
  const client = await connectTo(database, projectId);
  await client.query('begin');
  await client.query(
    `delete from identity.links where project_id = $1
     and external_identity_id =
       (select identity_id from identity.identities where project_id = $1 and value = 'external7')`,
    [projectId],
  );
  const before = await rowsRead(client, 'identity.links');
  await client.query('set plan_cache_mode = force_generic_plan');
  await client.query(
    `delete from identity.identities where project_id = $1 and value = 'external7'`,
    [projectId],
  );
  await client.query('set constraints all immediate');
  expect((await rowsRead(client, 'identity.links')) - before).toBeLessThanOrEqual(1);
});
