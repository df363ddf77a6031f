import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdtemp, open, readFile, rename, rm } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { Account, Binaries } from './postgres_account.ts';
import { toScramVerifier } from './scram.ts';

/** The superuser of an embedded server. */
export const SUPERUSER = 'postgres';

const PASSWORD_BYTES = 24;
const PRIVATE_FILE_MODE = 0o600;

/** Returns a new random password. */
export const newPassword = (): string => randomBytes(PASSWORD_BYTES).toString('base64url');

/** Who may connect, and how: every role, with its password. Connections for replication are the superuser's. */
const ACCESS_RULES = `# Written by Trunkline. Every connection needs the password of its role.
local all         all              scram-sha-256
host  all         all 127.0.0.1/32 scram-sha-256
host  all         all ::1/128      scram-sha-256
local replication all              scram-sha-256
host  replication all 127.0.0.1/32 scram-sha-256
host  replication all ::1/128      scram-sha-256
`;
const SCRAM_RULE = /^(?:local|host\w*)\s.*\s(?:scram-sha-256|reject)$/;

/** Returns whether access rules (the text of a pg_hba.conf) ask every connection for a SCRAM password. */
export const requirePasswords = (rules: string): boolean => {
  const lines = rules
    .split('\n')
    .map((line) => line.replace(/#.*/, '').trim())
    .filter(Boolean);
  return lines.length > 0 && lines.every((line) => SCRAM_RULE.test(line));
};

/** Returns the path of the access rules of a data folder. The server gets it as a setting, so no other file counts. */
export const rulesFile = (dir: string): string => join(dir, 'pg_hba.conf');

/** Returns whether a data folder asks every connection for a password. */
export const isProtected = async (dir: string): Promise<boolean> =>
  requirePasswords(await readFile(rulesFile(dir), 'utf8').catch(() => ''));

/**
 * Creates a private file for the server's account. The name must not exist yet, so neither a link nor a file
 * that another user has put there is followed or kept.
 */
const writePrivateFile = async (file: string, text: string, { uid, gid }: Account) => {
  const handle = await open(file, 'wx', PRIVATE_FILE_MODE);
  try {
    if (uid !== undefined && gid !== undefined) await handle.chown(uid, gid);
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
};

/**
 * Calls `work` with a file for `initdb --pwfile`, and removes the file afterwards. It holds the SCRAM verifier of the
 * password: initdb stores it as it is, and the password itself is never on the disk of the server.
 */
export const withPasswordFile = async <T>(
  password: string,
  account: Account,
  work: (file: string) => Promise<T>,
): Promise<T> => {
  const folder = await mkdtemp(join(tmpdir(), 'trunkline-initdb-'));
  try {
    const file = join(folder, 'verifier');
    await writePrivateFile(file, `${toScramVerifier(password)}\n`, account);
    const { uid, gid } = account;
    if (uid !== undefined && gid !== undefined) await chown(folder, uid, gid);
    return await work(file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

type Programs = { binaries: Binaries; account: Account };

/** Runs statements, one on each line, over a data folder without a server. Returns what Postgres reported. */
const runSingleUser = async (
  dir: string,
  statements: readonly string[],
  { binaries, account }: Programs,
): Promise<string> => {
  const args = ['--single', '-D', dir, 'postgres'];
  const stdio = ['pipe', 'ignore', 'pipe'] as const;
  const child = spawn(binaries.postgres, args, { ...account, cwd: dir, stdio: [...stdio] });
  let output = '';
  child.stderr?.on('data', (chunk) => (output += String(chunk)));
  child.stdin?.end(statements.map((statement) => `${statement}\n`).join(''));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`Postgres cannot set its password (${code}): ${output}`);
  return output;
};

const CLOSED_ROLE = /closed role (\S{1,64})/g;

/** Closes every role but the superuser and those of Postgres itself. The next migration opens the service's own. */
const CLOSE_ROLES = `do $$ declare v_role text; begin
  for v_role in select rolname from pg_roles where rolname !~ '^pg_' and rolname <> '${SUPERUSER}' order by rolname loop
    execute format('alter role %I nologin nosuperuser nocreaterole nocreatedb noreplication nobypassrls password null',
      v_role);
    raise warning 'closed role %', v_role;
  end loop;
end $$`.replaceAll(/\s+/g, ' ');

/**
 * Sets the superuser's password in a data folder over which no server runs, then replaces its access rules. Postgres
 * runs in single-user mode meanwhile, so no connection can come before the password counts. After a crash the rules
 * are still the old ones, and the next start does both again.
 *
 * In a folder that required no password any user of the machine could create roles: `isOpen` closes them all. Returns
 * their names.
 */
export const protect = async (
  dir: string,
  password: string,
  programs: Programs & { isOpen: boolean },
): Promise<string[]> => {
  const { account, isOpen } = programs;
  const setPassword = `alter role ${SUPERUSER} with login password '${toScramVerifier(password)}'`;
  const output = await runSingleUser(
    dir,
    [setPassword, ...(isOpen ? [CLOSE_ROLES] : [])],
    programs,
  );
  const replacement = `${rulesFile(dir)}.${randomBytes(4).toString('hex')}`;
  await writePrivateFile(replacement, ACCESS_RULES, account);
  await rename(replacement, rulesFile(dir));
  return [...output.matchAll(CLOSED_ROLE)].flatMap(([, role]) => role ?? []);
};

/** Returns the URL of an embedded server for its superuser. */
export const superuserUrl = (port: number, password: string): string =>
  `postgres://${SUPERUSER}:${password}@127.0.0.1:${port}/postgres`;

const INVALID_PASSWORD = '28P01';

/** Returns whether a running server refuses the password. Another failure, such as too many clients, is no refusal. */
export const refusesPassword = async (url: string): Promise<boolean> => {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  try {
    await client.connect();
    return false;
  } catch (error) {
    return (error as { code?: unknown }).code === INVALID_PASSWORD;
  } finally {
    await client.end().catch(() => {});
  }
};
