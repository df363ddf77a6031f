// The data folder of an embedded Postgres: who may read it, what is repaired, and what is not believed.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { findLocalPostgres, startLocalPostgres } from '../../src/runtime/local_postgres.ts';
import type { LocalPostgres } from '../../src/runtime/local_postgres.ts';
import { findAccount } from '../../src/runtime/postgres_account.ts';
import {
  newPassword,
  requirePasswords,
  rulesFile,
  withPasswordFile,
} from '../../src/runtime/postgres_password.ts';
import { isAlive } from '../../src/runtime/postgres_process.ts';
import { findQuickFolder, makeFolder } from '../../src/runtime/scratch_leftovers.ts';
import { findFreePort } from '../../src/runtime/scratch_postgres.ts';
import { withClient } from '../../src/runtime/with_client.ts';

const OPEN_RULES = 'local all all trust\nhost all all 127.0.0.1/32 trust\n';
const password = newPassword();
let folder: string;
let dir: string;
let said: string[];
const running: LocalPostgres[] = [];

const start = async (given = password): Promise<LocalPostgres> => {
  const say = (line: string): void => void said.push(line);
  const port = await findFreePort();
  const server = await startLocalPostgres({ dir, port, password: given, say });
  running.push(server);
  return server;
};

/** A folder with this password, made once and copied: making one takes a second of a core. */
let template: Awaited<ReturnType<typeof makeFolder>>;
beforeAll(async () => {
  template = await makeFolder(await findQuickFolder());
  const port = await findFreePort();
  const server = await startLocalPostgres({ dir: template.dir, port, password });
  await server.stop();
});
afterAll(() => rm(template.folder, { recursive: true }));

beforeEach(async () => {
  ({ folder, dir } = await makeFolder(await findQuickFolder()));
  execFileSync('cp', ['-a', template.dir, dir]);
  said = [];
});
afterEach(async () => {
  for (const server of running.splice(0)) await server.stop('immediate');
  await rm(folder, { recursive: true, force: true });
});

/** The code that the server refuses a sign-in with, or an empty text. */
const refusalOf = async (url: string, given: string | null): Promise<string> => {
  const client = new pg.Client({
    connectionString: Object.assign(new URL(url), { password: given ?? 'none' }).href,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    return '';
  } catch (error) {
    return String((error as { code?: unknown }).code);
  } finally {
    await client.end().catch(() => {});
  }
};
const INVALID_PASSWORD = '28P01';
const expectProtected = async ({ url }: LocalPostgres, given = password): Promise<void> => {
  expect(await refusalOf(url, given)).toBe('');
  for (const wrong of [null, 'wrong']) expect(await refusalOf(url, wrong)).toBe(INVALID_PASSWORD);
  expect(requirePasswords(readFileSync(rulesFile(dir), 'utf8'))).toBe(true);
};

const modeOf = (...path: string[]): string => (statSync(join(...path)).mode & 0o777).toString(8);

/** Leaves the folder as a version made it that trusted every user of the machine. */
const makeTrusting = async (): Promise<void> => {
  const server = await start();
  await withClient(server.url, (client) => client.query('alter role postgres password null'));
  await server.stop();
  await writeFile(rulesFile(dir), OPEN_RULES);
};

test('data, log and rules are private', async () => {
  await expectProtected(await start());
  expect([modeOf(dir), modeOf(dir, 'server.log'), modeOf(rulesFile(dir))]).toEqual([
    '700',
    '600',
    '600',
  ]);
  expect(said).toEqual([]);
});

test('what initdb gets is no password, in a file of its account alone, and is gone afterwards', async () => {
  const account = findAccount();
  for (const outcome of ['done', 'failed']) {
    let file = '';
    const working = withPasswordFile(password, account, async (given) => {
      file = given;
      expect([modeOf(given), modeOf(dirname(given))]).toEqual(['600', '700']);
      expect(statSync(given).uid).toBe(account.uid ?? process.getuid?.());
      expect(readFileSync(given, 'utf8')).toMatch(/^SCRAM-SHA-256\$4096:\S+\n$/);
      if (outcome === 'failed') throw new Error(outcome);
      return outcome;
    });
    expect(await working.catch((error: Error) => error.message)).toBe(outcome);
    expect(existsSync(dirname(file))).toBe(false);
  }
});

describe('a folder of a version that trusted every user of the machine', () => {
  test('gets the password before anybody can connect, and keeps its data', async () => {
    await makeTrusting();
    const server = await start();
    await expectProtected(server);
    expect(said).toEqual([expect.stringContaining('did not require a password')]);
    await server.stop();
    await expectProtected(await start());
    expect(said).toHaveLength(1);
  });

  test('attack: a role that another user created there as superuser signs in no more, and is named', async () => {
    const first = await start();
    await withClient(first.url, async (client) => {
      await client.query("create role evil superuser createrole login password 'pw'");
      await client.query("create role trunkline_runtime login password 'pw'");
    });
    await makeTrusting();
    const server = await start();
    await expectProtected(server);
    expect(said).toEqual([
      expect.stringContaining('did not require a password'),
      expect.stringMatching(/run "make analyst" again for each login that you need: evil$/),
    ]);
    const asEvil = Object.assign(new URL(server.url), { username: 'evil' }).href;
    expect(await refusalOf(asEvil, 'pw')).toBe(INVALID_PASSWORD);
    await withClient(server.url, async (client) => {
      const { rows } = await client.query(
        `select rolname from pg_roles
         where rolname in ('evil', 'trunkline_runtime') and (rolcanlogin or rolsuper or rolcreaterole)`,
      );
      expect(rows).toEqual([]);
    });
  });

  test('gets it after a crash between the password and the rules', async () => {
    const first = await start();
    await first.stop();
    await writeFile(rulesFile(dir), OPEN_RULES);
    await writeFile(`${rulesFile(dir)}.0a1b2c3d`, 'half of');
    await expectProtected(await start());
  });

  test('gets it after a crash of the server', async () => {
    const server = await start();
    await withClient(server.url, (client) => client.query('create table kept ()'));
    await withClient(server.url, (client) => client.query('alter role postgres password null'));
    await server.stop('immediate');
    await writeFile(rulesFile(dir), OPEN_RULES);
    const again = await start();
    await expectProtected(again);
    await withClient(again.url, (client) => client.query('table kept'));
  });

  test('whose server runs yet: what another user has opened there ends', async () => {
    const server = await start();
    await writeFile(rulesFile(dir), OPEN_RULES);
    await withClient(server.url, (client) => client.query('select pg_reload_conf()'));
    const address = { hostname: 'localhost', password: 'any' };
    const asStranger = Object.assign(new URL(server.url), address).href;
    const stranger = new pg.Client({ connectionString: asStranger });
    stranger.on('error', () => {});
    await expect.poll(() => refusalOf(asStranger, 'any')).toBe('');
    // Under the address that our own programs use, they send nothing to it.
    expect(await refusalOf(server.url, 'any')).toBe('ESCRAM');
    await stranger.connect();
    const ended = new Promise((resolve) => void stranger.once('end', resolve));
    const again = await start();
    await ended;
    expect(again.pid).not.toBe(server.pid);
    await expectProtected(again);
  });

  test.each([
    ['another file of rules', "hba_file = '/tmp/rules'"],
    ['passwords as MD5', "password_encryption = 'md5'"],
  ])('a setting that was planted in it does not count: %s', async (_, line) => {
    const first = await start();
    await first.stop();
    const file = join(dir, 'postgresql.auto.conf');
    await writeFile(file, `${readFileSync(file, 'utf8')}${line}\n`);
    await expectProtected(await start());
  });
});

test('a password that was restored with older secrets counts again', async () => {
  const first = await start('another password');
  await first.stop();
  said = [];
  await expectProtected(await start());
  expect(said).toEqual([expect.stringContaining('had another password')]);
});

test('a server that runs already, with this password, is taken as it is', async () => {
  const first = await start();
  const second = await start();
  expect([second.pid, second.isOurs, second.url]).toEqual([first.pid, false, first.url]);
});

test.each([
  ['', false],
  ['# only a comment\n', false],
  ['host all all 127.0.0.1/32 scram-sha-256\n', true],
  ['local all all scram-sha-256 # why\nhost all all all reject\n', true],
  ['local all all trust\n', false],
  ['host all all all scram-sha-256\nlocal all all peer\n', false],
  ['host all all 127.0.0.1/32 md5\n', false],
  ['host all all 127.0.0.1/32 password\n', false],
  ['include /tmp/rules scram-sha-256\n', false],
])('rules require passwords, or are replaced: %j', (rules, isRequired) => {
  expect(requirePasswords(rules)).toBe(isRequired);
});

describe('what is in the folder is not believed', () => {
  /** A process of ours that listens, and is no Postgres. */
  const startListener = async () => {
    const script = `
      const s = require('net').createServer();
      s.listen(0, '127.0.0.1', () => console.log(s.address().port));`;
    const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'ignore'] });
    const [port] = await once(createInterface({ input: child.stdout }), 'line');
    return { child, pid: child.pid ?? 0, port: String(port) };
  };

  test('a pid file of another process: it is neither asked for a password nor ended', async () => {
    const { child, pid, port } = await startListener();
    await mkdir(dir, { recursive: true });
    await writeFile(
      join(dir, 'postmaster.pid'),
      `${pid}\n${dir}\n1700000000\n${port}\n\n127.0.0.1\n\nready\n`,
    );
    expect(await findLocalPostgres(dir)).toBeNull();
    expect(isAlive(pid)).toBe(true);
    child.kill();
  });

  test('a log that is a link: what it leads to is neither written nor emptied', async () => {
    const server = await start();
    await server.stop();
    const target = join(folder, 'precious');
    await writeFile(target, 'precious');
    await rm(join(dir, 'server.log'));
    await symlink(target, join(dir, 'server.log'));
    await expect(start()).rejects.toThrow('ELOOP');
    expect(readFileSync(target, 'utf8')).toBe('precious');
  });
});

test('a server that does not start says so without its password', async () => {
  const server = await start();
  const { port } = new URL(server.url);
  const other = await mkdtemp(join(folder, 'other-'));
  await chmod(other, 0o711);
  const starting = startLocalPostgres({ dir: join(other, 'data'), port: Number(port), password });
  const error = await starting.then(
    () => null,
    (cause: Error) => cause,
  );
  expect(error?.message).toContain('Postgres did not start');
  expect(error?.message).not.toContain(password);
  expect(existsSync(join(other, 'data', 'postmaster.pid'))).toBe(false);
});
