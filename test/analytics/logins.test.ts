import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { listOpenDoors } from '../../src/runtime/analyst_doors.ts';
import {
  CONNECTIONS_MAX,
  keepLogin,
  LOGIN_NAME_CHARS_MAX,
  removeLogin,
  STATEMENT_TIMEOUT_SECONDS,
  toRole,
} from '../../src/runtime/analyst_login.ts';
import { connectAs } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';
import { runCommand } from '../support/run_command.ts';
import { connectAnalyst, newProject } from './connect_analyst.ts';

const database = testDatabase();
const run = (...args: string[]) => runCommand('src/runtime/analyst.ts', args, database.ownerEnv);

test('the command prints a URL that works, and the same command again a URL with a new password', async () => {
  const projectId = await newProject(database);
  onTestFinished(() => void run('remove', projectId, 'metabase'));
  const first = run('keep', projectId, 'metabase');
  expect([first.status, first.stderr]).toEqual([0, '']);
  const client = new pg.Client({ connectionString: first.stdout.trim() });
  client.on('error', () => {});
  await client.connect();
  expect((await client.query('select * from profiles')).rows).toEqual([]);

  const ended = once(client, 'error');
  const second = run('keep', projectId, 'metabase');
  await ended;
  const [before, after] = [new URL(first.stdout.trim()), new URL(second.stdout.trim())];
  expect(after.username).toBe(before.username);
  expect(after.password).not.toBe(before.password);
});

test('the password is in no statement: the server is told its verifier', async () => {
  const projectId = await newProject(database);
  const { role } = await keepLogin(database.owner, { projectId, name: '' });
  const { rows } = await database.owner.query(
    'select rolpassword from pg_authid where rolname = $1',
    [role],
  );
  expect(rows[0].rolpassword).toMatch(/^SCRAM-SHA-256\$/);
  await removeLogin(database.owner, { projectId, name: '' });
});

test('a login reads only, has a time-out and so many connections, and is nobody special', async () => {
  const projectId = await newProject(database);
  const analyst = await connectAnalyst(database, projectId);
  const { rows } = await analyst.query(`
    select current_setting('statement_timeout') as timeout, current_setting('default_transaction_read_only') as reads,
      current_setting('TimeZone') as zone, rolsuper, rolcreaterole, rolcreatedb, rolbypassrls, rolconnlimit
    from pg_roles where rolname = session_user`);
  expect(rows).toEqual([
    {
      timeout: `${STATEMENT_TIMEOUT_SECONDS / 60}min`,
      reads: 'on',
      zone: 'UTC',
      rolsuper: false,
      rolcreaterole: false,
      rolcreatedb: false,
      rolbypassrls: false,
      rolconnlimit: CONNECTIONS_MAX,
    },
  ]);
});

test('logins of one project are told apart by their names, and are removed one by one', async () => {
  const projectId = await newProject(database);
  const one = await connectAnalyst(database, projectId, 'one');
  await keepLogin(database.owner, { projectId, name: 'two' });
  expect(await removeLogin(database.owner, { projectId, name: 'two' })).toBe(true);
  expect(await removeLogin(database.owner, { projectId, name: 'two' })).toBe(false);
  expect((await one.query('select from events')).rowCount).toBe(0);
});

test('removing a login ends its sessions', async () => {
  const projectId = await newProject(database);
  const { stdout } = run('keep', projectId);
  const client = new pg.Client({ connectionString: stdout.trim() });
  client.on('error', () => {});
  await client.connect();
  const ended = once(client, 'error');
  expect(run('remove', projectId).stdout).toBe('removed\n');
  await ended;
  const again = new pg.Client({ connectionString: stdout.trim() });
  await expect(again.connect()).rejects.toThrow(/does not exist|password authentication failed/);
  expect(run('remove', projectId).stdout).toBe('there is no such login\n');
});

test('a project that is none, and a name that cannot be one, are refused', () => {
  const { status, stderr } = run('keep', newId());
  expect([status, stderr]).toEqual([1, expect.stringMatching(/^There is no project/)]);
  for (const projectId of ['', 'x', `${newId()}"; drop role x`, newId().toUpperCase()])
    expect(() => toRole({ projectId, name: '' })).toThrow(/project=<uuid>/);
  const projectId = newId();
  for (const name of ['a'.repeat(LOGIN_NAME_CHARS_MAX + 1), 'A', 'a_b', 'a"b', ' '])
    expect(() => toRole({ projectId, name })).toThrow(/at most 12 characters/);
  expect(toRole({ projectId, name: 'a'.repeat(LOGIN_NAME_CHARS_MAX) }).length).toBeLessThan(64);
});

test('the service keeps what is closed to everybody else', async () => {
  await connectAnalyst(database, await newProject(database));
  expect(await listOpenDoors(database.owner)).toEqual([]);
  for (const role of ['trunkline_runtime', 'trunkline_queue'] as const) {
    const client = await connectAs(database, role);
    await client.query('create temporary table /* trial */ mine ()');
    await client.query('select /* trial */ pg_advisory_lock(1), pg_advisory_unlock(1)');
  }
});

test('an owner who is no superuser can make a login too', async () => {
  const projectId = await newProject(database);
  const owner = `owner_${randomBytes(4).toString('hex')}`;
  const { rows } = await database.owner.query('select current_database() as name');
  await database.owner.query(`
    create role ${owner} login createrole password 'of one owner';
    grant trunkline_analyst to ${owner} with admin option;
    alter database ${rows[0].name} owner to ${owner};
    grant usage on schema projects, admin to ${owner};
    grant select on projects.projects to ${owner};
    grant insert on admin.audit to ${owner}`);
  const url = new URL(database.url);
  url.username = owner;
  url.password = 'of one owner';
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  const { role, password } = await keepLogin(client, { projectId, name: '' });
  url.username = role;
  url.password = password;
  const analyst = new pg.Client({ connectionString: url.href });
  await analyst.connect();
  expect((await analyst.query('select from timeline')).rowCount).toBe(0);
  await analyst.end();
  expect(await removeLogin(client, { projectId, name: '' })).toBe(true);
  await client.end();
  await database.owner.query(`
    alter database ${rows[0].name} owner to current_user; drop owned by ${owner}; drop role ${owner}`);
});

test('a door that cannot be closed is named', async () => {
  await connectAnalyst(database, await newProject(database));
  await database.owner.query('grant execute on function pg_advisory_lock(bigint) to public');
  expect(await listOpenDoors(database.owner)).toEqual(['take advisory locks']);
});
