// Files that say the same thing must not drift apart: migrations, function files, the schema dump.
import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { describeSchema } from '../src/runtime/describe_schema.ts';
import { testDatabase } from './support/database.ts';

const DB_FOLDER = join(import.meta.dirname, '..', 'db');
/** What db/schema.sql was written by: other versions tell some definitions in other words. */
const DUMPED_BY_POSTGRES = 18;

const database = testDatabase();
const read = (path: string): string => readFileSync(join(DB_FOLDER, path), 'utf8');
const functionFiles = globSync('fixtures/*/*.sql', { cwd: DB_FOLDER }).toSorted();
const committedFiles = globSync('committed/*.sql', { cwd: DB_FOLDER }).toSorted();

type Definition = { name: string; definition: string; owner: string; grants: string };

/** Everything that function files may define: text, owner and grants. */
const readDefinitions = async (): Promise<Definition[]> => {
  const { rows } = await database.owner.query<Definition>(`
    with room as (
      select oid from pg_namespace
      where nspname !~ '^(pg_|graphile_)' and nspname not in ('information_schema', 'public', 'migrations')
    )
    select p.oid::regprocedure::text as name, pg_get_functiondef(p.oid) as definition,
      pg_get_userbyid(p.proowner) as owner, p.proacl::text as grants
    from pg_proc as p join room on room.oid = p.pronamespace
    where p.prokind in ('f', 'p')
    union all
    select c.oid::regclass::text, concat_ws(' ', pg_get_viewdef(c.oid), c.reloptions, obj_description(c.oid), array(
        select col_description(c.oid, attnum) from pg_attribute where attrelid = c.oid and attnum > 0 order by attnum
      )), pg_get_userbyid(c.relowner), c.relacl::text
    from pg_class as c join room on room.oid = c.relnamespace
    where c.relkind = 'v'
    order by 1`);
  return rows;
};

/** What the definitions are once every function file has run again; nothing of it stays. */
const readDefinitionsOfFiles = async (): Promise<Definition[]> => {
  await database.owner.query('begin');
  try {
    for (const file of functionFiles) await database.owner.query(read(file));
    return await readDefinitions();
  } finally {
    await database.owner.query('rollback');
  }
};

test('the function files say what the committed migrations made', async () => {
  const migrated = await readDefinitions();
  expect(migrated.length).toBeGreaterThan(0);
  expect(await readDefinitionsOfFiles()).toEqual(migrated);
});

test('every function is in the file that bears its name, and every file holds what its name says', async () => {
  const defined = (await readDefinitions()).map(({ name }) => name.replace(/\(.*$/s, ''));
  const named = functionFiles.map((file) => `${basename(dirname(file))}.${basename(file, '.sql')}`);
  expect([...new Set(defined)].toSorted()).toEqual(named.toSorted());
});

test('nothing waits in current.sql: what is meant is committed', () => {
  const statements = read('current.sql')
    .replaceAll(/--[^\n]*/g, '')
    .trim();
  expect(statements).toBe('');
  expect(read('current.sql')).not.toMatch(/^--!\s*include/m);
});

type Migration = { previous: string; hash: string; body: string };

/** The migrator's own format: headers `--! Name: value` up to an empty line, then the body. */
const parseMigration = (text: string): Migration => {
  const [head = '', ...rest] = text.split('\n\n');
  const header = (name: string): string =>
    new RegExp(`^--! ${name}: (\\S+)$`, 'm').exec(head)?.[1] ?? '';
  return { previous: header('Previous'), hash: header('Hash'), body: rest.join('\n\n') };
};

/** The migrator's own sum: over the hash before and the body, so that history is a chain. */
const hashOf = ({ previous, body }: Migration): string => {
  const text = `${previous === '-' ? '' : previous}\n${body.trim()}`.trim();
  return `sha1:${createHash('sha1').update(`${text}\n`).digest('hex')}`;
};

test('committed migrations are as they were signed: nobody edited one', () => {
  const edited = committedFiles.filter((file) => {
    const migration = parseMigration(read(file));
    return hashOf(migration) !== migration.hash;
  });
  expect(edited).toEqual([]);
  expect(committedFiles.length).toBeGreaterThan(0);
});

test('an edited migration is noticed', () => {
  const migration = parseMigration(read(committedFiles[0] ?? ''));
  const edited = { ...migration, body: migration.body.replace('create', 'create ') };
  expect(hashOf(edited)).not.toBe(migration.hash);
});

test('committed migrations are one line of history: numbered without gaps, each after the one before', () => {
  const numbers = committedFiles.map((file) => Number(basename(file).slice(0, 6)));
  expect(numbers).toEqual(committedFiles.map((_, index) => index + 1));
  const migrations = committedFiles.map((file) => parseMigration(read(file)));
  const before = ['-', ...migrations.map(({ hash }) => hash)].slice(0, -1);
  expect(migrations.map(({ previous }) => previous)).toEqual(before);
});

test('db/schema.sql describes the migrated database', async ({ skip }) => {
  const { rows } = await database.owner.query<{ version: number }>(
    `select current_setting('server_version_num')::integer / 10000 as version`,
  );
  const version = rows[0]?.version;
  const why = `db/schema.sql is in the words of Postgres ${DUMPED_BY_POSTGRES}; this is ${version}`;
  if (version !== DUMPED_BY_POSTGRES) console.log(`skipped: ${why}`);
  skip(version !== DUMPED_BY_POSTGRES, why);
  expect(await describeSchema(database.owner)).toBe(read('schema.sql'));
});

test('the description is the same each time, and leaves the connection as it was', async () => {
  const first = await describeSchema(database.owner);
  expect(await describeSchema(database.owner)).toBe(first);
  const { rows } = await database.owner.query('show search_path');
  expect(rows).toEqual([{ search_path: '"$user", public' }]);
});

test('the description of a view says with whose rights it reads, what it means and who may read it', async () => {
  for (const change of [
    'alter view analytics.events reset (security_invoker)',
    'comment on column analytics.events.event is null',
    `comment on view analytics.events is 'Something else'`,
    'revoke select on analytics.events from trunkline_analyst',
    'grant select on analytics.events to public',
    'alter view analytics.events owner to trunkline_queue',
  ]) {
    const before = await describeSchema(database.owner);
    await database.owner.query(change);
    expect([change, await describeSchema(database.owner)]).not.toEqual([change, before]);
  }
});
