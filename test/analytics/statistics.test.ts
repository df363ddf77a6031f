// What the planner knows is made of all projects' rows, and "explain" tells what it thinks.
import type pg from 'pg';
import { beforeAll, expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { testDatabase } from '../support/database.ts';
import { endAnalysts, keepAnalyst, newProject } from './connect_analyst.ts';

const database = testDatabase();
endAnalysts();
let analyst: pg.Client;

/** Not texts that people wrote: a few words of ours. */
const OUR_WORDS = [
  'events.source',
  'timeline.source',
  'identities.kind',
  'links.source',
  'links.key_type',
  'links.status',
  'links.reason',
  'runs.status',
  'segment_history.cause',
  'segment_history.change',
  'segments.kind',
  'segments.status',
  'sends.status',
  'feedback.kind',
  'feedback.bounce_type',
  'suppressions.reason',
];

type Table = { name: string; columns: string[]; types: string[] };
const listTables = async (): Promise<Table[]> => {
  const { rows } = await database.owner.query<Table>(`
    select format('%I.%I', table_schema, table_name) as name, array_agg(column_name::text) as columns,
      array_agg(data_type::text) as types
    from information_schema.columns
    where format('%I.%I', table_schema, table_name)::regclass in (
      select polrelid from pg_policy where polname = 'analysts_permissive'
    )
    and column_name <> 'project_id' and is_generated = 'NEVER'
    group by 1`);
  return rows;
};

/** Whatever a table demands of its rows, besides their types. */
const dropConstraints = async (table: string): Promise<void> => {
  const { rows } = await database.owner.query<{ conname: string }>(
    `select conname from pg_constraint
    where conrelid = $1::regclass and contype in ('c', 'u', 'p', 'f') and conparentid = 0`,
    [table],
  );
  for (const { conname } of rows)
    await database.owner.query(`alter table ${table} drop constraint if exists ${conname} cascade`);
};

/** A thousand rows of a project in every table that the views read. */
const fill = async (projectId: string, text: string): Promise<void> => {
  const values: Record<string, string> = {
    uuid: 'gen_random_uuid()',
    text,
    'timestamp with time zone': 'now()',
    integer: '1',
    smallint: '1',
    bigint: '1',
    date: 'current_date',
    boolean: 'false',
    jsonb: `'{}'`,
    bytea: `sha256(n::text::bytea)`,
    ARRAY: `array[${text}]`,
  };
  for (const { name, columns, types } of await listTables())
    await database.owner.query(
      `insert into ${name} (project_id, ${columns.join(', ')})
      select $1, ${types.map((type) => values[type] ?? 'null').join(', ')} from generate_series(1, 1000) as n`,
      [projectId],
    );
};

beforeAll(async () => {
  const ours = await newProject(database);
  for (const { name } of await listTables()) await dropConstraints(name);
  // Texts of ours are in the range of a to b, theirs in that of x to z, three in ten of them the same.
  await fill(ours, `'a' || md5(n::text)`);
  await fill(newId(), `case when n < 300 then 'yyyy' else 'x' || md5(n::text) end`);
  await database.owner.query('analyze');
  analyst = await keepAnalyst(database, ours);
});

const estimateOf = async (from: string, condition: string): Promise<number> => {
  const { rows } = await analyst.query(
    `explain (format json) select from analytics.${from} where ${condition}`,
  );
  return rows[0]['QUERY PLAN'][0].Plan['Plan Rows'];
};

type Column = { column: string; type: string };
const listTexts = async (): Promise<Column[]> => {
  const { rows } = await database.owner.query<Column>(`
    select table_name || '.' || column_name as column, data_type as type from information_schema.columns
    where table_schema = 'analytics' and table_name <> 'bare' and data_type in ('text', 'ARRAY') order by 1`);
  return rows.filter(({ column }) => !OUR_WORDS.includes(column));
};

test('a view that showed the column itself would tell: estimates of held texts are greater', async () => {
  await database.owner.query(`
    create view analytics.bare with (security_invoker = true) as select name from ingest.events;
    grant select on analytics.bare to trunkline_analyst`);
  const held = await estimateOf('bare', `name = 'yyyy'`);
  expect(held).toBeGreaterThan(await estimateOf('bare', `name = 'nobody'`));
  expect(await estimateOf('bare', `name < 'x5'`)).toBeGreaterThan(
    await estimateOf('bare', `name < 'w'`),
  );
});

test('an estimate is the same for a text that another project has and for one that nobody has', async () => {
  const texts = await listTexts();
  expect(texts.length).toBeGreaterThan(15);
  for (const { column, type } of texts) {
    const [view = '', name = ''] = column.split('.');
    const pairs =
      type === 'ARRAY'
        ? [
            [`'yyyy' = any (${name})`, `'nobody' = any (${name})`],
            [`${name} @> '{yyyy}'`, `${name} @> '{nobody}'`],
          ]
        : [
            [`${name} = 'yyyy'`, `${name} = 'nobody'`],
            [`${name} < 'x5'`, `${name} < 'a'`],
            [`${name} >= 'x'`, `${name} >= 'zz'`],
            [`${name} like 'yyyy%'`, `${name} like 'nobo%'`],
            [`starts_with(${name}, 'yyyy')`, `starts_with(${name}, 'nobo')`],
          ];
    for (const [held = '', unheld = ''] of pairs)
      expect([column, held, await estimateOf(view, held)]).toEqual([
        column,
        held,
        await estimateOf(view, unheld),
      ]);
  }
});

test('statistics cannot be read', async () => {
  for (const view of ['pg_stats', 'pg_stats_ext', 'pg_stats_ext_exprs']) {
    const { rows } = await analyst.query(
      `select * from ${view} where schemaname not in ('pg_catalog', 'information_schema')`,
    );
    expect([view, rows]).toEqual([view, []]);
  }
});

test('no view shows or compares project ids', async () => {
  const { rows } = await database.owner.query(
    `select table_name from information_schema.columns where table_schema = 'analytics' and column_name = 'project_id'`,
  );
  expect(rows).toEqual([]);
});

test('every view reads with the rights of whoever asks, and says what each column is', async () => {
  const { rows } = await database.owner.query(`
    select c.relname as view, c.reloptions,
      obj_description(c.oid) is not null and every(col_description(c.oid, a.attnum) is not null) as is_explained
    from pg_class as c join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0
    where c.relnamespace = 'analytics'::regnamespace and c.relkind = 'v' and c.relname <> 'bare'
    group by c.oid, c.relname, c.reloptions`);
  expect(rows.length).toBeGreaterThan(7);
  for (const row of rows)
    expect(row).toEqual({
      view: row.view,
      reloptions: ['security_invoker=true'],
      is_explained: true,
    });
});
