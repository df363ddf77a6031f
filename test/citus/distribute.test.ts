// What can be said of db/citus/distribute.sql without a cluster: it names every table, once and in order, and it runs
// where functions of Citus's names only write down what they are asked; the service goes on afterwards.
import { beforeAll, describe, expect, test } from 'vitest';
import { listTables, listTenantTables, listViolations } from '../support/catalogue.ts';
import { tableRules } from '../support/catalogue_rules.ts';
import { testDatabase } from '../support/database.ts';
import { smtpSink } from '../support/smtp_sink.ts';
import { parseStatements } from '../support/sql_tree.ts';
import { DISTRIBUTE, distribute, distribution } from './distribution.ts';
import { runMainJob } from './main_job.ts';

const MAIN_JOB_TIMEOUT_MS = 120_000;

const database = testDatabase();
const sink = smtpSink();

/** Citus's own signatures, as far as they are used; what is asked is written down. */
const STAND_INS = `
  create table public.asked (at serial, what text, name text, by_column text, beside text);
  create function public.create_distributed_table(table_name regclass, distribution_column text,
    distribution_type text default 'hash', colocate_with text default 'default', shard_count integer default null)
  returns void language sql as $$
    insert into public.asked (what, name, by_column, beside)
    values ('tenant', table_name::text, distribution_column, colocate_with) $$;
  create function public.create_reference_table(table_name regclass) returns void language sql as $$
    insert into public.asked (what, name) values ('reference', table_name::text) $$;
  create function public.create_distributed_function(function_name regprocedure) returns void language sql as $$
    insert into public.asked (what, name) values ('function', function_name::text) $$;`;

type Asked = { what: string; name: string; by_column: string | null; beside: string | null };
let asked: Asked[];
const namesOf = (what: string): string[] =>
  asked.filter((one) => one.what === what).map(({ name }) => name);

test('each table is named once, in the group of its columns', async () => {
  const { owner } = database;
  const sorted = (names: readonly string[]) => names.toSorted();
  expect(sorted(distribution.tenant)).toEqual(await listTenantTables(owner));
  expect(sorted(distribution.reference)).toEqual(await listTables(owner, 'reference'));
  expect(sorted(distribution.local)).toEqual(await listTables(owner, 'local'));
});

test('a table comes after those that it refers to', async () => {
  const { rows } = await database.owner.query<{ child: string; parent: string }>(
    `select conrelid::regclass::text as child, confrelid::regclass::text as parent
    from pg_constraint where contype = 'f' and conrelid <> confrelid and conparentid = 0`,
  );
  const order = [...distribution.reference, ...distribution.tenant];
  const wrong = rows.filter(
    ({ child, parent }) => order.includes(child) && order.indexOf(parent) > order.indexOf(child),
  );
  expect(rows.length).toBeGreaterThan(30);
  expect(wrong).toEqual([]);
});

test('every statement of it is one of Postgres’s language', async () => {
  const statements = await parseStatements(DISTRIBUTE);
  expect(statements.length).toBe(
    distribution.tenant.length +
      distribution.reference.length +
      'do, function, functions'.split(',').length,
  );
});

test.each(tableRules)('what it spreads can be spread: rule $name', async (rule) => {
  expect(await listViolations(database.owner, rule)).toEqual([]);
});

describe('run where nothing is spread', () => {
  beforeAll(async () => {
    await database.owner.query(STAND_INS);
    await distribute(database.owner);
    const { rows } = await database.owner.query<Asked>(
      'select what, name, by_column, beside from public.asked order by at',
    );
    asked = rows;
  });

  test('tables go by project_id, all beside the first', () => {
    const [first, ...others] = asked.filter(({ what }) => what === 'tenant');
    expect(first).toMatchObject({ by_column: 'project_id', beside: 'none' });
    for (const one of others)
      expect(one).toMatchObject({ by_column: 'project_id', beside: first?.name });
    expect(namesOf('tenant')).toEqual(distribution.tenant);
    expect(namesOf('reference')).toEqual(distribution.reference);
  });

  test('functions that are asked inside of statements go along', () => {
    expect(namesOf('function')).toEqual(
      expect.arrayContaining([expect.stringMatching(/^segments\.holds\(/)]),
    );
    expect(namesOf('function').some((name) => name.includes('plan_send'))).toBe(false);
  });

  test('the setting that row-level security compares with is one that is taken along', async () => {
    const { rows } = await database.owner.query<{ settings: string[] }>(
      `select setconfig as settings from pg_db_role_setting
      join pg_database on pg_database.oid = setdatabase where datname = current_database() and setrole = 0`,
    );
    expect(rows[0]?.settings).toContain('citus.propagate_set_commands=local');
    const { rows: made } = await database.owner.query<{ text: string }>(
      `select pg_get_functiondef('base.use_project'::regproc) as text`,
    );
    expect(made[0]?.text).toContain('set local trunkline.project_id');
  });

  test('the service does its main job afterwards', { timeout: MAIN_JOB_TIMEOUT_MS }, async () => {
    await runMainJob(database.deps, sink);
  });
});
