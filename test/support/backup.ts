// Backups of a test's database, as an operator makes them, and what they are restored from.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { splitPassword } from '../../src/config/database_url.ts';
import { databaseUrl } from '../../src/runtime/scratch_postgres.ts';
import { withClient } from '../../src/runtime/with_client.ts';

/** What a backup is restored with: the database is as it was, whatever has become of it. */
export type Backup = { restore: () => Promise<void> };
export type Make = (url: string) => Promise<Backup>;

const nameOf = (url: string): string => new URL(url).pathname.slice(1);

/** On another database of the server: the one that is copied or dropped may have no guests. */
const asAdmin = (url: string, work: (client: pg.Client) => Promise<unknown>): Promise<void> =>
  withClient(databaseUrl(url, 'postgres'), async (client) => {
    await work(client);
  });

const dropDatabase = (client: pg.Client, name: string) =>
  client.query(`drop database if exists ${name} with (force)`);

/** A copy on the same server, which takes the place of what it was made of. */
export const copyDatabase: Make = async (url) => {
  const name = nameOf(url);
  const copy = `${name}_backup`;
  await asAdmin(url, async (client) => {
    await client.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1',
      [name],
    );
    await client.query(`create database ${copy} template ${name}`);
  });
  const restore = () =>
    asAdmin(url, async (client) => {
      await dropDatabase(client, name);
      await client.query(`create database ${name} template ${copy}`);
      await dropDatabase(client, copy);
    });
  return { restore };
};

const DEBIAN = '/usr/lib/postgresql';

/** The folder of a pg_dump that understands a server of this major version, or null. */
export const findDump = (major: number): string | null => {
  const versions = (): string[] => readdirSync(DEBIAN).map((at) => join(DEBIAN, at, 'bin'));
  const folders = (process.env['PATH'] ?? '').split(':');
  try {
    folders.push(...versions());
  } catch {
    // No Debian.
  }
  const isFit = (folder: string): boolean => {
    const { stdout } = spawnSync(join(folder, 'pg_dump'), ['--version'], { encoding: 'utf8' });
    return Number(/ (\d+)\./.exec(stdout ?? '')?.[1] ?? 0) >= major;
  };
  return folders.find(isFit) ?? null;
};

/** What `pg_dump` writes, restored by `pg_restore` into a database that is made anew. */
export const dumpWith =
  (folder: string): Make =>
  async (url) => {
    const dir = mkdtempSync(join(tmpdir(), 'trunkline-dump-'));
    const file = join(dir, 'dump');
    const { url: server, password } = splitPassword(url);
    // No argument: every user of the machine can read those.
    const env = { ...process.env, PGPASSWORD: password };
    execFileSync(join(folder, 'pg_dump'), ['--format=custom', `--file=${file}`, server], { env });
    const restore = async () => {
      await asAdmin(url, async (client) => {
        await dropDatabase(client, nameOf(url));
        await client.query(`create database ${nameOf(url)}`);
      });
      const args = ['--exit-on-error', `--dbname=${server}`, file];
      execFileSync(join(folder, 'pg_restore'), args, { env });
      rmSync(dir, { recursive: true });
    };
    return { restore };
  };
