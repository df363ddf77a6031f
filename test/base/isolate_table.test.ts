import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { connectAs, connectTo } from './connections.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();

const TABLE = 'projects."odd Name"';
const insert = (projectId: string, value: number): string =>
  `insert into ${TABLE} (project_id, value) values ('${projectId}', ${value})`;

const isolated = async () => {
  await database.owner.query(`
    drop table if exists ${TABLE};
    create table ${TABLE} (project_id uuid not null, value integer not null);
    grant select, insert, update, delete on ${TABLE} to trunkline_runtime, trunkline_queue;
    select base.isolate_table('${TABLE}')`);
  const [ours, theirs] = [newId(), newId()];
  const us = await connectTo(database, ours);
  const them = await connectTo(database, theirs);
  await us.query(insert(ours, 1));
  await them.query(insert(theirs, 2));
  return { ours, theirs, us, them };
};

test('a project reads and changes its own rows alone', async () => {
  const { us, them } = await isolated();
  expect((await us.query(`select value from ${TABLE}`)).rows).toEqual([{ value: 1 }]);
  await us.query(`update ${TABLE} set value = 10`);
  await us.query(`delete from ${TABLE} where value = 2`);
  expect((await them.query(`select value from ${TABLE}`)).rows).toEqual([{ value: 2 }]);
});

test('a row cannot be written for, or moved to, another project', async () => {
  const { theirs, us } = await isolated();
  await expect(us.query(insert(theirs, 3))).rejects.toThrow(/row-level security/);
  await expect(us.query(`update ${TABLE} set project_id = '${theirs}'`)).rejects.toThrow(
    /row-level security/,
  );
});

test('without a project there are no rows and no error that tells more', async () => {
  await isolated();
  for (const role of ['trunkline_runtime', 'trunkline_queue'] as const) {
    const client = await connectAs(database, role);
    expect((await client.query(`select from ${TABLE}`)).rowCount).toBe(0);
    await client.query("select set_config('trunkline.project_id', '', false)");
    expect((await client.query(`select from ${TABLE}`)).rowCount).toBe(0);
    await expect(client.query(insert(newId(), 1))).rejects.toThrow(/row-level security/);
  }
});

test('isolating twice is as once', async () => {
  const { us } = await isolated();
  await database.owner.query(`select base.isolate_table('${TABLE}')`);
  expect((await us.query(`select value from ${TABLE}`)).rows).toEqual([{ value: 1 }]);
});

test('the policy binds the table’s owner too', async () => {
  await isolated();
  const { rows } = await database.owner.query(
    'select relrowsecurity, relforcerowsecurity from pg_class where oid = $1::regclass',
    [TABLE],
  );
  expect(rows).toEqual([{ relrowsecurity: true, relforcerowsecurity: true }]);
});

test('the service’s roles can undo none of it', async () => {
  const { us } = await isolated();
  for (const statement of [
    `alter table ${TABLE} disable row level security`,
    `drop policy one_project on ${TABLE}`,
    `select base.isolate_table('${TABLE}')`,
    'set role postgres',
  ])
    await expect(us.query(statement)).rejects.toThrow();
});

test('every table with a project id is isolated, except what is looked up before one is known', async () => {
  await database.owner.query(`drop table if exists ${TABLE}`);
  const { rows } = await database.owner.query<{ name: string }>(`
    select relation.oid::regclass::text as name
    from pg_class as relation
    join pg_attribute as field on field.attrelid = relation.oid and field.attname = 'project_id'
    where relation.relkind in ('r', 'p') and not relation.relispartition and not relation.relforcerowsecurity
    order by name`);
  expect(rows.map(({ name }) => name)).toEqual([
    'admin.access_requests',
    'admin.invitations',
    'admin.members',
    'projects.api_keys',
    'projects.projects',
  ]);
});

test('a partition of an isolated table is no way around it', async () => {
  const projectId = newId();
  const client = await connectTo(database, projectId);
  const { rows } = await database.owner.query<{ name: string }>(
    "select inhrelid::regclass::text as name from pg_inherits where inhparent = 'ingest.events'::regclass",
  );
  expect(rows.length).toBeGreaterThan(20);
  for (const { name } of rows)
    await expect(client.query(`select from ${name}`)).rejects.toThrow(/permission denied/);
});
