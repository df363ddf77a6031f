// Every statement on a clock (sweeps, jobs, metrics) uses an index and reads a bounded number of rows, with 300,000
// queued sends over 100 providers and as much of the rest.
import { EventEmitter } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { openLog } from '../../src/base/log.ts';
import { openDb } from '../../src/base/db.ts';
import { queueUrl, runtimeUrl } from '../../src/base/roles.ts';
import { loadTasks } from '../../src/base/task.ts';
import { startSweeper } from '../../src/worker/sweeper.ts';
import { NEVER, testDatabase } from '../support/database.ts';
import { TRIAL } from '../support/recorded.ts';
import { FILL } from './plan_rows.ts';

const FILL_TIMEOUT_MS = 240_000;
const TASKS_FOLDER = join(import.meta.dirname, '..', '..', 'tasks');
/** A table of at most so many rows may be read whole and sorted. */
const SMALL_ROWS_MAX = 1_000;
/** What a statement reads of one table: a sweep looks at 10,000 rows of each kind. */
const READ_ROWS_MAX = 25_000;
const DEAD = 'dead';

/** Statements that are being rewritten, known by a part of their text. Remove a line once its statement is done. */
const EXEMPT: readonly string[] = [
  'select next.project_id, next.provider_id from next', // QUEUED_SENDS of worker/work.ts
  'delivery.claim_sends',
];

type Plan = {
  'Node Type': string;
  'Relation Name'?: string;
  Schema?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  Plans?: Plan[];
};
type Told = { query: string; plan: Plan };

const database = testDatabase();
const told: Told[] = [];
const sizes = new Map<string, number>();

const PLAN = /^duration: [\d.]+ ms {2}plan:\n/;

/** Postgres sends each plan as a notice to the connection that ran the statement. */
const listen = (): (() => void) => {
  pg.Client.prototype.emit = function take(this: pg.Client, event: string, ...given: unknown[]) {
    const { message } = (given[0] ?? {}) as { message?: string };
    if (event === 'notice' && message !== undefined && PLAN.test(message)) {
      const said = JSON.parse(message.replace(PLAN, '')) as { 'Query Text': string; Plan: Plan };
      told.push({ query: said['Query Text'], plan: said.Plan });
    }
    return EventEmitter.prototype.emit.call(this, event, ...given);
  };
  return () => {
    // It has none of its own: that of EventEmitter is back.
    Reflect.deleteProperty(pg.Client.prototype, 'emit');
  };
};

const EXPLAINED = {
  session_preload_libraries: 'auto_explain',
  'auto_explain.log_min_duration': '0',
  'auto_explain.log_analyze': 'on',
  'auto_explain.log_nested_statements': 'on',
  'auto_explain.log_format': 'json',
  'auto_explain.log_timing': 'off',
  'auto_explain.log_level': 'notice',
};

/** Where a server lacks the module, nothing is judged. */
const canExplain = async (): Promise<boolean> => {
  try {
    await database.owner.query(`load 'auto_explain'`);
    return true;
  } catch {
    return false;
  }
};

let isThere = false;
let stopListening = () => {};
beforeAll(async () => {
  isThere = await canExplain();
  if (!isThere) return;
  await database.owner.query("set maintenance_work_mem = '256MB'; set work_mem = '64MB'");
  const { rows: indexes } = await database.owner.query<{ name: string; made: string }>(`
    select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as made from pg_index
    where indrelid in ('delivery.sends'::regclass, 'automations.runs'::regclass) and not indisunique`);
  for (const { name } of indexes) await database.owner.query(`drop index ${name}`);
  for (const statement of FILL) await database.owner.query(statement);
  // An index that is built afterwards is the same, and is there in a fraction of the time.
  for (const { made } of indexes) await database.owner.query(made);
  await database.owner.query('analyze');
  const { rows } = await database.owner.query<{ name: string; count: number }>(`
    select relnamespace::regnamespace || '.' || relname as name, reltuples::int8::int4 as count
    from pg_class where relkind in ('r', 'p') and relnamespace <> 'pg_catalog'::regnamespace`);
  for (const { name, count } of rows) sizes.set(name, count);
  const { rows: named } = await database.owner.query<{ name: string }>(
    'select quote_ident(current_database()) as name',
  );
  for (const [setting, value] of Object.entries(EXPLAINED))
    await database.owner.query(`alter database ${named[0]?.name} set ${setting} = '${value}'`);
  stopListening = listen();
}, FILL_TIMEOUT_MS);
afterAll(() => stopListening());
beforeEach(({ skip }) => skip(!isThere, 'the server has no auto_explain'));

const flatten = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(flatten)];
/** Postgres tells the average of all loops. */
const rowsOf = (plan: Plan): number =>
  Math.round(
    (plan['Actual Rows'] +
      (plan['Rows Removed by Filter'] ?? 0) +
      (plan['Rows Removed by Index Recheck'] ?? 0)) *
      plan['Actual Loops'],
  );

/** What is wrong with a plan: a large table that is read whole, a large sort, or too many rows of one table. */
const findFaults = ({ query, plan }: Told): string[] => {
  const nodes = flatten(plan);
  const read = new Map<string, number>();
  for (const node of nodes)
    if (node['Relation Name'] && node['Node Type'] !== 'ModifyTable')
      read.set(node['Relation Name'], (read.get(node['Relation Name']) ?? 0) + rowsOf(node));
  const faults = [
    ...nodes.flatMap((node) => {
      const size = sizesOf(node);
      return node['Node Type'] === 'Seq Scan' && size > SMALL_ROWS_MAX
        ? [`reads all ${size} rows of ${node['Relation Name']}`]
        : [];
    }),
    ...nodes.flatMap((node) =>
      node['Node Type'] === 'Sort' && sortedOf(node) > SMALL_ROWS_MAX
        ? [`sorts ${sortedOf(node)} rows`]
        : [],
    ),
    ...[...read].flatMap(([table, rows]) =>
      rows > READ_ROWS_MAX ? [`reads ${rows} rows of ${table}`] : [],
    ),
  ];
  return faults.map((fault) => `${fault}: ${query.replaceAll(/\s+/g, ' ').trim().slice(0, 300)}`);
};
const sizesOf = (node: Plan): number =>
  Math.max(
    0,
    ...[...sizes].flatMap(([name, size]) =>
      node['Relation Name'] !== undefined && name.endsWith(`.${node['Relation Name']}`)
        ? [size]
        : [],
    ),
  );
const sortedOf = ({ Plans: [input] = [] }: Plan): number => (input ? rowsOf(input) : 0);

const isExempt = (query: string): boolean =>
  EXEMPT.some((part) => query.replaceAll(/\s+/g, ' ').includes(part));
const judge = (): string[] => [
  ...new Set(told.filter(({ query }) => !isExempt(query)).flatMap(findFaults)),
];

const openQueue = async (): Promise<pg.Client> => {
  const client = new pg.Client({ connectionString: queueUrl(database.deps) });
  await client.connect();
  return client;
};

test('every statement of a sweep, with a worker that died', async () => {
  told.length = 0;
  await database.owner.query(
    `insert into queue.workers (worker_id, started_at, heartbeat_at) values ($1, '2022-01-01', '2022-01-01')`,
    [DEAD],
  );
  const warned: string[] = [];
  const log = openLog('warn', { write: (line: string) => void warned.push(line) });
  const sweeper = startSweeper({ ...database.deps, log }, await openQueue(), 'own');
  await sweeper.stop();
  expect(warned.filter((line) => line.includes('sweep failed'))).toEqual([]);
  expect(told.length).toBeGreaterThan(10);
  expect(told.some(({ query }) => query.includes('delivery.sends'))).toBe(true);
  expect(judge()).toEqual([]);
}, 120_000);

const scheduled = readFileSync(join(TASKS_FOLDER, 'crontab'), 'utf8')
  .split('\n')
  .flatMap((line) => /^[^#\s]\S* \S+ \S+ \S+ \S+ (\S+)/.exec(line)?.[1] ?? []);

test.each(scheduled)(
  'every statement of %s',
  async (name) => {
    told.length = 0;
    const db = await openDb(runtimeUrl(database.deps.config.databaseUrl, database.deps.keys));
    const queue = await openQueue();
    try {
      const deps = {
        ...database.deps,
        db,
        jobs: queue as never,
        workerId: () => 'own',
        signal: NEVER,
      };
      const tasks = await loadTasks(TASKS_FOLDER, deps);
      await tasks[name]?.({}, undefined as never);
    } finally {
      await queue.end();
      await db.end();
    }
    expect(told.length).toBeGreaterThan(0);
    expect(judge()).toEqual([]);
  },
  120_000,
);

test('a statement that reads a large table whole, or sorts it, is found', async () => {
  told.length = 0;
  const queue = await openQueue();
  await queue.query(`select ${TRIAL} project_id from delivery.sends order by lease_owner limit 1`);
  await queue.end();
  const faults = judge().map((fault) => fault.replace(/\d+/, 'n').replace(/: select.*/, ''));
  expect(faults.toSorted()).toEqual([
    'reads all n rows of sends',
    'reads n rows of sends',
    'sorts n rows',
  ]);
});
