// An analyst who tries: whatever is set, called or guessed, only the rows of one project answer.
import type pg from 'pg';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { testDatabase } from '../support/database.ts';
import { refusalOf } from '../support/refusal_of_sql.ts';
import { endAnalysts, keepAnalyst } from './connect_analyst.ts';
import { at, Shop } from './shop.ts';

const database = testDatabase();
endAnalysts();

const VIEWS = [
  'events',
  'feedback',
  'identities',
  'links',
  'profiles',
  'runs',
  'sends',
  'suppressions',
  'timeline',
  'unsubscribes',
];

let ours: Shop;
let theirs: Shop;
let analyst: pg.Client;
let theirAnalyst: pg.Client;

/** Somebody with a row in every view. The event's name is what only that project knows. */
const fill = async (shop: Shop, secret: string): Promise<void> => {
  await shop.happened([at(3), `${secret}~${secret}-browser`, secret]);
  await shop.told(secret, { email: `${secret}@example.com`, plan: secret });
  await shop.linked(`${secret}-browser`, secret);
  await shop.sent({ to: secret, acceptedAt: at(2) });
  const address_key = await shop.suppressed(`${secret}@example.com`, 'complaint', secret, at(1));
  await shop.unsubscribed(`${secret}@example.com`, secret, at(1));
  const notice = { source: secret, dedupe_key: 'k', kind: 'bounced', reason: secret };
  const times = { occurred_at: at(1), received_at: at(1) };
  await shop.insert('feedback.notices', { ...notice, address_key, ...times });
};

beforeAll(async () => {
  [ours, theirs] = [await Shop.open(database), await Shop.open(database)];
  await fill(ours, 'our_secret');
  await fill(theirs, 'their_secret');
  analyst = await keepAnalyst(database, ours.projectId);
  theirAnalyst = await keepAnalyst(database, theirs.projectId);
});
beforeEach(async () => {
  await analyst.query('rollback');
  await analyst.query('discard all');
});

const say = async (client: pg.Client): Promise<string> => {
  const texts: string[] = [];
  for (const view of VIEWS)
    texts.push(JSON.stringify((await client.query(`select * from analytics.${view}`)).rows));
  return texts.join('\n');
};
const countRows = async (client: pg.Client, view: string): Promise<number> =>
  (await client.query(`select from analytics.${view}`)).rowCount ?? -1;

test('each of two analysts sees a row in every view, and nothing of the other’s', async () => {
  for (const view of VIEWS) {
    expect([view, (await countRows(analyst, view)) > 0]).toEqual([view, true]);
    expect([view, await countRows(theirAnalyst, view)]).toEqual([
      view,
      await countRows(analyst, view),
    ]);
  }
  expect(await say(analyst)).toContain('our_secret');
  expect(await say(analyst)).not.toContain('their_secret');
  expect(await say(theirAnalyst)).not.toContain('our_secret');
});

test('setting another project shows the same rows as before, and none of the other’s', async () => {
  const before = await say(analyst);
  for (const statement of [
    `set trunkline.project_id = '${theirs.projectId}'`,
    `set session trunkline.project_id to '${theirs.projectId}'`,
    `select set_config('trunkline.project_id', '${theirs.projectId}', false)`,
    `begin; set local trunkline.project_id = '${theirs.projectId}'`,
  ]) {
    await analyst.query(statement);
    expect(await say(analyst)).toBe(before);
  }
});

test('another project cannot be made one’s default, nor one’s login renamed after it', async () => {
  const { rows } = await analyst.query('select session_user as role');
  await analyst.query('set default_transaction_read_only = off');
  const theirRole = `trunkline_analyst_${theirs.projectId.replaceAll('-', '')}_x`;
  for (const statement of [
    `alter role ${rows[0].role} set trunkline.project_id = '${theirs.projectId}'`,
    `alter role ${rows[0].role} rename to ${theirRole}`,
    `create role ${theirRole}`,
  ])
    expect(await refusalOf(analyst, statement)).toMatch(/permission denied|cannot be renamed/);
});

test('becoming somebody else is refused, and the group itself sees the same project', async () => {
  const { rows } = await theirAnalyst.query('select session_user as role');
  for (const role of ['trunkline_runtime', 'trunkline_queue', rows[0].role, 'postgres']) {
    expect(await refusalOf(analyst, `set role ${role}`)).toMatch(/permission denied/);
    expect(await refusalOf(analyst, `set session authorization ${role}`)).toMatch(
      /permission denied/,
    );
  }
  await analyst.query('set role trunkline_analyst');
  expect(await countRows(analyst, 'events')).toBe(1);
  await analyst.query(`set trunkline.project_id = '${theirs.projectId}'`);
  expect(await say(analyst)).not.toContain('their_secret');
});

test('without row security there is an error, no row', async () => {
  await analyst.query('set row_security = off');
  for (const view of VIEWS)
    expect(await refusalOf(analyst, `select from analytics.${view}`)).toMatch(
      /would be affected by row-level security/,
    );
});

test('no table, view or sequence outside of the analytics views can be read', async () => {
  const { rows } = await database.owner.query<{ name: string; id: number }>(`
    select c.oid::regclass::text as name, c.oid::integer as id
    from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
    where c.relkind in ('r', 'p', 'v', 'm', 'S', 'f')
    and n.nspname !~ '^pg_' and n.nspname not in ('information_schema', 'analytics')`);
  expect(rows.length).toBeGreaterThan(40);
  for (const { name, id } of rows) {
    expect([name, await refusalOf(analyst, `select * from ${name}`)]).toEqual([
      name,
      expect.stringMatching(/permission denied/),
    ]);
    const said = await refusalOf(
      analyst,
      `select table_to_xml(${id}::oid::regclass, true, true, '')`,
    );
    expect([name, said]).toEqual([name, expect.stringMatching(/permission denied|not exist/)]);
  }
});

test('no function of ours can be called, and none can be made', async () => {
  const { rows } = await analyst.query(`
    select p.oid::regprocedure::text as name
    from pg_proc as p join pg_namespace as n on n.oid = p.pronamespace
    where n.nspname not in ('pg_catalog', 'information_schema')
    and has_schema_privilege(n.oid, 'usage') and has_function_privilege(p.oid, 'execute')`);
  expect(rows).toEqual([]);
  await analyst.query('set default_transaction_read_only = off');
  for (const statement of [
    `create function pg_temp.leak(text) returns boolean language sql as 'select true'`,
    `create function analytics.leak(text) returns boolean language sql as 'select true'`,
    `create function public.leak(text) returns boolean language sql as 'select true'`,
    'create operator public.=== (function = texteq, leftarg = text, rightarg = text)',
    'create temporary table kept as select * from analytics.events',
    'create view public.kept as select * from analytics.events',
    'create schema kept',
    'select lo_create(0)',
    `select lo_from_bytea(0, 'x')`,
    `do $$ begin execute 'create temporary table kept ()'; end $$`,
    `copy (select 1) to program 'true'`,
    `select pg_read_file('postgresql.conf')`,
    'create extension dblink',
  ])
    expect([statement, await refusalOf(analyst, statement)]).toEqual([
      statement,
      // The second is how Postgres 15 refuses programs.
      expect.stringMatching(/permission denied|must be superuser or have privileges of/),
    ]);
});

test('nothing can be written, in a transaction that may write either', async () => {
  await analyst.query('set default_transaction_read_only = off');
  for (const view of VIEWS)
    for (const statement of [
      `insert into analytics.${view} default values`,
      `delete from analytics.${view}`,
      `create or replace view analytics.${view} as select 1`,
      `drop view analytics.${view}`,
    ])
      expect([statement, await refusalOf(analyst, statement)]).toEqual([
        statement,
        expect.stringMatching(/permission denied|must be owner|cannot (insert|delete)/),
      ]);
});

test('the locks that the service lives by cannot be taken', async () => {
  for (const lock of [
    `select pg_try_advisory_lock(hashtextextended('trunkline/sweeper', 0))`,
    'select pg_advisory_xact_lock(1)',
    'select pg_advisory_lock_shared(1, 2)',
    'begin; lock table analytics.events in access exclusive mode',
    'select from analytics.events for update',
  ])
    expect([lock, await refusalOf(analyst, lock)]).toEqual([
      lock,
      expect.stringMatching(/permission denied/),
    ]);
});

test('an error says nothing of other projects’ values: their rows are never judged', async () => {
  for (const condition of [
    'event::integer = 1',
    `(properties ->> 'plan')::integer = 1`,
    '1 / (length(event) - length(event)) = 1',
    `event ~ repeat('(', 1)`,
  ]) {
    const said = await refusalOf(analyst, `select from analytics.timeline where ${condition}`);
    expect(said).not.toContain('their_secret');
  }
  expect(
    await refusalOf(analyst, `select from analytics.events where event::integer = 1`),
  ).toContain('our_secret');
  const dividing = `case when external_id like 'their%' then 1 / (length(event) - length(event)) = 1 else true end`;
  expect((await analyst.query(`select from analytics.events where ${dividing}`)).rowCount).toBe(1);
});

test('the catalogue shows neither other people’s statements nor passwords', async () => {
  await database.owner.query(`select 'their_secret'`);
  const { rows } = await analyst.query('select query from pg_stat_activity');
  expect(JSON.stringify(rows)).not.toContain('their_secret');
  for (const table of ['pg_authid', 'pg_shadow', 'pg_statistic', 'pg_hba_file_rules'])
    expect(await refusalOf(analyst, `select * from ${table}`)).toMatch(/permission denied/);
});
