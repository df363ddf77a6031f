// Tenants do not meet, whatever a query forgets: every tenant table, with rows of two projects in it.
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { queueUrl, runtimeUrl } from '../src/base/roles.ts';
import { listTables, listTenantTables } from './support/catalogue.ts';
import { testDatabase } from './support/database.ts';
import { TRIAL } from './support/recorded.ts';

const INSUFFICIENT_PRIVILEGE = '42501';

const database = testDatabase();
const ours = randomUUID();
const theirs = randomUUID();
let runtime: pg.Client;
let queue: pg.Client;
let tables: string[];

const values: Record<string, string> = {
  uuid: 'gen_random_uuid()',
  text: `'x'`,
  'timestamp with time zone': 'now()',
  integer: '1',
  'double precision': '1',
  bigint: '1',
  boolean: 'true',
  date: `'2026-01-31'`,
  jsonb: `'{}'`,
  bytea: `'\\x00'`,
  ARRAY: `'{}'`,
};

type ColumnRow = { column_name: string; data_type: string };

/** One row of a project in any table: what a column says is no matter here, only whose the row is. */
const insertFor = async (client: pg.Client, table: string, projectId: string) => {
  const [schema, name] = table.split('.');
  const { rows } = await database.owner.query<ColumnRow>(
    `select column_name, data_type from information_schema.columns
    where table_schema = $1 and table_name = $2 and is_nullable = 'NO' and column_default is null
    and column_name <> 'project_id'`,
    [schema, name],
  );
  const columns = ['project_id', ...rows.map((row) => row.column_name)];
  const given = [
    '$1',
    ...rows.map(({ data_type }) => values[data_type] ?? `no value for ${data_type}`),
  ];
  return client.query(
    `insert ${TRIAL} into ${table} (${columns.join(', ')}) values (${given.join(', ')})`,
    [projectId],
  );
};

const inProject = async <T>(
  client: pg.Client,
  projectId: string,
  work: () => Promise<T>,
): Promise<T> => {
  await client.query('begin');
  try {
    await client.query(`select set_config('trunkline.project_id', $1, true)`, [projectId]);
    return await work();
  } finally {
    await client.query('commit');
  }
};

/** Only policies are to be judged here: other constraints go, and the runtime role may do anything to rows. */
const openAllButPolicies = async (): Promise<void> => {
  const { rows } = await database.owner.query<{ statement: string }>(
    `
    select format('alter table %s drop constraint %I', conrelid::regclass, conname) as statement
    from pg_constraint
    where contype in ('c', 'f') and conrelid::regclass::text = any ($1) and conparentid = 0 and conislocal`,
    [tables],
  );
  for (const { statement } of rows) await database.owner.query(statement);
  await database.owner.query(
    `grant select, insert, update, delete on ${tables.join(', ')} to trunkline_runtime`,
  );
};

const connect = async (url: string): Promise<pg.Client> => {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  return client;
};

beforeAll(async () => {
  tables = await listTenantTables(database.owner);
  await openAllButPolicies();
  for (const projectId of [ours, theirs]) {
    await inProject(database.owner, projectId, async () => {
      for (const table of tables) await insertFor(database.owner, table, projectId);
    });
  }
  const { config, keys } = database.deps;
  runtime = await connect(runtimeUrl(config.databaseUrl, keys));
  queue = await connect(queueUrl({ config, keys }));
});

afterAll(async () => {
  await runtime.end();
  await queue.end();
});

/** The tables for which work does not end as promised. */
const tablesWhere = async (isWrong: (table: string) => Promise<boolean>): Promise<string[]> => {
  const wrong: string[] = [];
  for (const table of tables) if (await isWrong(table)) wrong.push(table);
  return wrong;
};

const projectsIn = async (client: pg.Client, table: string): Promise<string[]> => {
  const { rows } = await client.query<{ project_id: string }>(
    `select ${TRIAL} project_id from ${table}`,
  );
  return rows.map(({ project_id }) => project_id);
};

/** What the server says to a statement, or nothing when it obeys. */
const refusalOf = async (
  client: pg.Client,
  text: string,
  params: string[] = [],
): Promise<string> => {
  try {
    await client.query(text, params);
    return '';
  } catch (error) {
    expect(error).toMatchObject({ code: INSUFFICIENT_PRIVILEGE });
    return (error as Error).message;
  }
};

test('both projects have a row in every tenant table', async () => {
  expect(tables).toContain('ingest.events');
  for (const projectId of [ours, theirs]) {
    await inProject(database.owner, projectId, async () => {
      const lacking = await tablesWhere(
        async (table) => !(await projectsIn(database.owner, table)).includes(projectId),
      );
      expect(lacking).toEqual([]);
    });
  }
});

test('without a project, no tenant table shows a row', async () => {
  expect(await tablesWhere(async (table) => (await projectsIn(runtime, table)).length > 0)).toEqual(
    [],
  );
});

test('with a project, every tenant table shows its rows and no others', async () => {
  await inProject(runtime, ours, async () => {
    for (const table of tables)
      expect([table, ...(await projectsIn(runtime, table))]).toEqual([table, ours]);
  });
});

test('the project ends with its transaction', async () => {
  await inProject(runtime, ours, async () => {});
  expect(await projectsIn(runtime, 'ingest.pending')).toEqual([]);
});

test('a row for another project cannot be added to any tenant table', async () => {
  const open = await tablesWhere(async (table) => {
    const adding = inProject(runtime, ours, () => insertFor(runtime, table, theirs));
    return adding.then(
      () => true,
      (error: Error) => !error.message.startsWith('new row violates row-level security policy'),
    );
  });
  expect(open).toEqual([]);
});

test('a row cannot be given to another project', async () => {
  const open = await tablesWhere(async (table) => {
    const said = await inProject(runtime, ours, () =>
      refusalOf(runtime, `update ${TRIAL} ${table} set project_id = $1`, [theirs]),
    );
    return !said.startsWith('new row violates row-level security policy');
  });
  expect(open).toEqual([]);
});

test('the rows of another project cannot be changed or removed', async () => {
  await inProject(runtime, ours, async () => {
    const touched = await tablesWhere(async (table) => {
      const updated = await runtime.query(
        `update ${TRIAL} ${table} set project_id = project_id where project_id = $1`,
        [theirs],
      );
      const deleted = await runtime.query(`delete ${TRIAL} from ${table} where project_id = $1`, [
        theirs,
      ]);
      return updated.rowCount !== 0 || deleted.rowCount !== 0;
    });
    expect(touched).toEqual([]);
  });
});

test('a partition cannot be asked behind the back of its table', async () => {
  const partitions = (await listTables(database.owner, 'tenant')).filter(
    (table) => !tables.includes(table),
  );
  expect(partitions.length).toBeGreaterThan(0);
  for (const partition of partitions) {
    expect(await refusalOf(runtime, `select ${TRIAL} from ${partition}`)).toMatch(
      /^permission denied for table/,
    );
  }
});

test('the queue role sees work of all projects, but nothing of what it is about', async () => {
  const seen = await projectsIn(queue, 'delivery.sends');
  expect(seen.toSorted()).toEqual([ours, theirs].toSorted());
  for (const statement of [
    'select recipient from delivery.sends',
    'select project_id from delivery.sends for share',
    `update delivery.sends set status = 'cancelled'`,
    'delete from ingest.pending',
    'select email from profiles.profiles',
  ]) {
    expect(await refusalOf(queue, `${statement} ${TRIAL}`)).toMatch(/^permission denied/);
  }
});

test('the runtime role has no way into the tables of the queue', async () => {
  expect(await refusalOf(runtime, 'select from queue.workers')).toMatch(/^permission denied/);
  expect(await refusalOf(runtime, 'select from graphile_worker._private_jobs')).toMatch(
    /^permission denied/,
  );
});
