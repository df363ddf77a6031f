// Whoever is looked for costs by their own rows, however many others there are.
import { beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { inProject, sql } from '../../src/base/db.ts';
import type { Scope } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { listShared } from '../../src/profiles/address_queries.ts';
import { holdByAddress, listByEmail } from '../../src/profiles/queries.ts';
import { findPerson } from '../../src/profiles/timeline_queries.ts';
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
     select $1, gen_random_uuid(), kind, kind || substr(split_part(email, '@', 1), 6), profile_id, profile_id
     from profiles.profiles cross join unnest('{external,anonymous}'::text[]) as kind where project_id = $1`,
    [projectId],
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

/** How many rows of a table the connection has read, since some moment before the transaction began. */
const countRead = ({ tx }: Scope, table: string) =>
  tx.oneFirst(sql.type(z.strictObject({ read: z.int() }))`
    select (idx_tup_fetch + coalesce(seq_tup_read, 0))::integer as read from pg_stat_xact_all_tables
    where relid = ${table}::regclass
  `);

/** How many rows of a table are read from now on. */
const readerOf = async (scope: Scope, table: string) => {
  const before = await countRead(scope, table);
  return async () => (await countRead(scope, table)) - before;
};

test('who has an address is looked up by the address', async () => {
  await inProject(database.deps, projectId, async (scope) => {
    const read = await readerOf(scope, 'profiles.profiles');
    const emails = ['other7@example.com', 'other8@example.com', 'nobody@example.com'];
    expect((await listShared(scope, emails)).toSorted()).toEqual(emails.slice(0, 2));
    expect(await read()).toBe(2);
    const page = { limit: 50, afterId: null };
    expect(await listByEmail(scope, 'other9@example.com', page)).toHaveLength(1);
    expect(await read()).toBe(3);
    await holdByAddress(scope, ['other9@example.com']);
    expect(await read()).toBe(4);
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
  await client.query('set local plan_cache_mode = force_generic_plan');
  await client.query(
    `delete from identity.identities where project_id = $1 and value = 'external7'`,
    [projectId],
  );
  await client.query('set constraints all immediate');
  expect((await rowsRead(client, 'identity.links')) - before).toBeLessThanOrEqual(1);
});

test.each(['id', 'external'] as const)(
  'whose timeline it is, is looked up by the %s',
  async (by) => {
    const { rows } = await database.owner.query<{ profile_id: string }>(
      "select profile_id from identity.identities where project_id = $1 and value = 'external7'",
      [projectId],
    );
    const value = by === 'id' ? (rows[0]?.profile_id ?? '') : 'external7';
    await inProject(database.deps, projectId, async (scope) => {
      const profilesRead = await readerOf(scope, 'profiles.profiles');
      const identitiesRead = await readerOf(scope, 'identity.identities');
      const person = await findPerson(scope, { by, value });
      expect(person?.identities.map((known) => known.value)).toEqual(['external7', 'anonymous7']);
      expect(await profilesRead()).toBe(2);
      expect(await identitiesRead()).toBe(by === 'id' ? 2 : 3);
    });
  },
);
