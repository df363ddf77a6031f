import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { testDatabase } from '../support/database.ts';
import { refusalOf } from '../support/refusal_of_sql.ts';

const database = testDatabase();
const [ours, theirs] = [newId(), newId()];

beforeAll(async () => {
  await database.owner.query(`
    create table ingest.shown (project_id uuid, word text, hidden text);
    select base.isolate_table('ingest.shown');
    grant usage on schema ingest to trunkline_analyst`);
  for (const projectId of [ours, theirs])
    await database.owner.query(`insert into ingest.shown values ($1, 'w', 'h')`, [projectId]);
});

const open = (columns: string): Promise<unknown> =>
  database.owner.query(`select base.open_to_analysts('ingest.shown', $1)`, [columns]);

const PASSWORD = 'of one test';

/** A login of the group by any name, for one test. */
const connectAs = async (role: string): Promise<pg.Client> => {
  await database.owner.query(
    `create role ${role} login password '${PASSWORD}' in role trunkline_analyst`,
  );
  const url = new URL(database.url);
  url.username = role;
  url.password = PASSWORD;
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  onTestFinished(async () => {
    await client.end();
    await database.owner.query(`drop role ${role}`);
  });
  return client;
};
const analystOf = (projectId: string): Promise<pg.Client> =>
  connectAs(`trunkline_analyst_${projectId.replaceAll('-', '')}`);

test('a login sees the rows of the project that its name says, in the columns that were opened', async () => {
  await open('{project_id,word}');
  const analyst = await analystOf(ours);
  expect((await analyst.query('select project_id, word from ingest.shown')).rows).toEqual([
    { project_id: ours, word: 'w' },
  ]);
  expect(await refusalOf(analyst, 'select hidden from ingest.shown')).toMatch(/permission denied/);
});

test('opening again replaces the columns', async () => {
  await open('{project_id,word}');
  await open('{project_id,hidden}');
  const analyst = await analystOf(ours);
  expect((await analyst.query('select hidden from ingest.shown')).rowCount).toBe(1);
  expect(await refusalOf(analyst, 'select word from ingest.shown')).toMatch(/permission denied/);
});

test('a member of the group whose name says no project sees nothing', async () => {
  await open('{project_id,word}');
  const suffix = randomBytes(4).toString('hex');
  for (const name of [`bob${suffix}`, `trunkline_bob${suffix}`, `trunkline_analyst__${suffix}`]) {
    const client = await connectAs(name);
    expect((await client.query('select word from ingest.shown')).rows).toEqual([]);
  }
  const confused = await connectAs(`trunkline_analyst_${suffix}`);
  expect(await refusalOf(confused, 'select word from ingest.shown')).toMatch(
    /invalid input syntax/,
  );
});

test('what the setting says does not matter', async () => {
  await open('{project_id,word}');
  const analyst = await analystOf(ours);
  await analyst.query(`set trunkline.project_id = '${theirs}'`);
  expect((await analyst.query('select project_id from ingest.shown')).rows).toEqual([
    { project_id: ours },
  ]);
});

test('the policies are the analysts’ alone', async () => {
  await open('{project_id,word}');
  const { rows } = await database.owner.query(
    `select polroles::regrole[]::text as roles from pg_policy
    where polrelid = 'ingest.shown'::regclass order by polname`,
  );
  expect(rows).toEqual([
    { roles: '{trunkline_analyst}' },
    { roles: '{trunkline_analyst}' },
    { roles: '{-}' },
  ]);
});
