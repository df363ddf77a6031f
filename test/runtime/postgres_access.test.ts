// Another user of the machine reaches the ports of 127.0.0.1 as we do. What may they do with the embedded Postgres?
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDb } from '../../src/base/db.ts';
import { Keys } from '../../src/base/keys.ts';
import { ROLES, urlFor } from '../../src/base/roles.ts';
import { createProject } from '../../src/projects/projects.ts';
import { keepLogin } from '../../src/runtime/analyst_login.ts';
import { migrate } from '../../src/runtime/migrate.ts';
import { SUPERUSER } from '../../src/runtime/postgres_password.ts';
import { startScratchPostgres } from '../../src/runtime/scratch_postgres.ts';
import type { ScratchPostgres } from '../../src/runtime/scratch_postgres.ts';
import { withClient } from '../../src/runtime/with_client.ts';
import { DEFAULTS } from '../support/defaults.ts';
import { asOtherUser, whyNoOtherUser } from '../support/other_user.ts';
import { TEST_MASTER_KEY } from '../support/secrets.ts';

const keys = new Keys(Buffer.from(TEST_MASTER_KEY, 'hex'));
let server: ScratchPostgres;
/** The URL of each login, with its password. */
const logins: Record<string, string> = {};

beforeAll(async () => {
  server = await startScratchPostgres();
  await migrate({ config: { ...DEFAULTS, ownerDatabaseUrl: server.url }, keys });
  logins[SUPERUSER] = server.url;
  for (const role of ROLES) logins[role] = urlFor(server.url, keys, role);
  const db = await openDb(urlFor(server.url, keys, 'trunkline_runtime'), 1);
  const { project_id: projectId } = await createProject({ db, keys }, 'attacked');
  await db.end();
  const { role, password } = await withClient(server.url, (client) =>
    keepLogin(client, { projectId, name: '' }),
  );
  logins['analyst'] = withCredentials(server.url, role, password);
});
afterAll(() => server.stop());

const LOGINS = [SUPERUSER, ...ROLES, 'analyst'] as const;

const withCredentials = (text: string, username: string, password: string): string =>
  Object.assign(new URL(text), { username, password }).href;
const loginOf = (name: string): string => logins[name] ?? '';
const userOf = (name: string): string => new URL(loginOf(name)).username;

/** What the server says to somebody who connects; empty when it takes them. */
const refusalOf = async (config: pg.ClientConfig): Promise<string> => {
  const client = new pg.Client(config);
  client.on('error', () => {});
  try {
    await client.connect();
    return '';
  } catch (error) {
    return String(error);
  } finally {
    await client.end().catch(() => {});
  }
};

test.each(LOGINS)('%s signs in with its password over TCP, and with no other', async (name) => {
  const login = loginOf(name);
  expect(await refusalOf({ connectionString: login })).toBe('');
  const without = withCredentials(login, userOf(name), '');
  expect(await refusalOf({ connectionString: without })).toMatch(/password must be a string/);
  for (const wrong of ['wrong', new URL(login).password.slice(0, -1), userOf(name)])
    expect(
      await refusalOf({ connectionString: withCredentials(login, userOf(name), wrong) }),
    ).toContain(`password authentication failed for user "${userOf(name)}"`);
});

test('the password of one role is none of another', async () => {
  for (const name of LOGINS)
    for (const other of LOGINS.filter((one) => one !== name)) {
      const { password } = new URL(loginOf(other));
      const login = withCredentials(loginOf(name), userOf(name), password);
      expect(await refusalOf({ connectionString: login })).toContain('authentication failed');
    }
});

test('there is no socket in the file system; with one, it needs the same passwords', async () => {
  const { rows } = await withClient(server.url, (client) =>
    client.query('show unix_socket_directories'),
  );
  expect(rows).toEqual([{ unix_socket_directories: '' }]);

  const open = await startScratchPostgres({ unix_socket_directories: '/tmp' });
  try {
    const { port, password } = new URL(open.url);
    const socket = { host: '/tmp', port: Number(port), user: SUPERUSER, database: 'postgres' };
    expect(await refusalOf({ ...socket, password })).toBe('');
    expect(await refusalOf({ ...socket, password: 'wrong' })).toContain('authentication failed');
    expect(await refusalOf({ ...socket, password: '' })).toContain('password must be a string');
  } finally {
    await open.stop();
  }
});

/** Signs in without a password, as far as the server lets it; writes which kind of proof the server asks for. */
const SIGN_IN = `
import { connect } from 'node:net';
const [, port, user] = process.argv;
const words = Buffer.from('user\\0' + user + '\\0database\\0postgres\\0\\0');
const head = Buffer.alloc(8);
head.writeInt32BE(8 + words.length, 0);
head.writeInt32BE(196608, 4);
const socket = connect(Number(port), '127.0.0.1', () => socket.write(Buffer.concat([head, words])));
socket.once('data', (answer) => {
  console.log(answer.toString('latin1', 0, 1), answer.readInt32BE(5));
  socket.destroy();
});`;
/** AuthenticationSASL. AuthenticationOk, which would open the session without any proof, is 0. */
const ASKS_FOR_SCRAM = 'R 10';

test('another user of the machine signs in as no role without a password, least of all as the superuser', async ({
  skip,
}) => {
  const whyNot = await whyNoOtherUser();
  skip(whyNot !== null, whyNot ?? '');
  const { port } = new URL(server.url);
  for (const name of LOGINS)
    expect(await asOtherUser(SIGN_IN, port, userOf(name))).toBe(ASKS_FOR_SCRAM);
});

test('another user of the machine reads no file of the server', async ({ skip }) => {
  const whyNot = await whyNoOtherUser();
  skip(whyNot !== null, whyNot ?? '');
  const READ = `
    import { readFileSync } from 'node:fs';
    const said = [];
    for (const file of ['pg_hba.conf', 'server.log', 'postmaster.pid', 'global/pg_authid'])
      try { readFileSync(process.argv[1] + '/' + file); said.push('read'); } catch (error) { said.push(error.code); }
    console.log(said.join(' '));`;
  expect(await asOtherUser(READ, server.dir)).toBe('EACCES EACCES EACCES EACCES');
});

test.each([...ROLES, 'analyst'])('%s runs no program and reads no file by COPY', async (name) => {
  for (const statement of [
    `copy (select 1) to program 'true'`,
    `create temporary table taken (line text); copy taken from program 'id'`,
    `create temporary table taken (line text); copy taken from '/etc/passwd'`,
    `copy (select 1) to '/tmp/written'`,
    `select pg_read_file('/etc/passwd')`,
    `alter system set listen_addresses = '*'`,
    `alter role ${SUPERUSER} password null`,
    `alter role ${userOf(name)} superuser`,
  ]) {
    const running = withClient(loginOf(name), async (client) => {
      await client.query('set default_transaction_read_only = off');
      await client.query(statement);
    });
    await expect(running, statement).rejects.toThrow(
      /permission denied|must be superuser|only roles with/i,
    );
  }
});

test('the server keeps verifiers of passwords, not passwords, and its log has neither', async () => {
  const { rows } = await withClient(server.url, (client) =>
    client.query<{ role: string; verifier: string | null }>(
      `select rolname as role, rolpassword as verifier from pg_authid where rolcanlogin`,
    ),
  );
  expect(rows.map(({ role }) => role).toSorted()).toEqual(LOGINS.map(userOf).toSorted());
  for (const { verifier } of rows) expect(verifier).toMatch(/^SCRAM-SHA-256\$4096:/);
  const log = readFileSync(join(server.dir, 'server.log'), 'utf8');
  expect(log).toContain('password authentication failed');
  for (const name of LOGINS) expect(log).not.toContain(new URL(loginOf(name)).password);
  expect(log).not.toContain('SCRAM-SHA-256$');
});
