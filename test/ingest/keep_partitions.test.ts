import { expect, test } from 'vitest';
import keepPartitions from '../../tasks/ingest/keep_partitions.ts';
import { connectAs } from '../base/connections.ts';
import { NEVER, testDatabase } from '../support/database.ts';

const database = testDatabase();

const keep = async (...args: number[]): Promise<number> => {
  const { rows } = await database.owner.query<{ made: number }>(
    `select ingest.keep_partitions(${args.join(', ')}) as made`,
  );
  return rows[0]?.made ?? -1;
};

type Partition = { name: string; low: Date; high: Date };
const partitions = async (): Promise<Partition[]> => {
  const { rows } = await database.owner.query<Partition>(`
    select relation.relname as name, bounds[1]::timestamptz as low, bounds[2]::timestamptz as high
    from pg_inherits
    join pg_class as relation on relation.oid = inhrelid
    cross join lateral regexp_match(pg_get_expr(relation.relpartbound, relation.oid),
      'FROM \\(''(.+)''\\) TO \\(''(.+)''\\)') as bounds
    where inhparent = 'ingest.events'::regclass order by low`);
  return rows;
};

const monthName = (at: Date) => `events_${at.toISOString().slice(0, 7).replace('-', '')}`;
const now = new Date();
const monthFromNow = (months: number) =>
  new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months, 1));

const drop = (name: string) => database.owner.query(`drop table ingest.${name}`);

test('after migration every month is there from 24 back to 3 ahead, and running again makes none', async () => {
  const made = await partitions();
  expect(made.map(({ name }) => name)).toEqual(
    Array.from({ length: 28 }, (_, at) => monthName(monthFromNow(at - 24))),
  );
  expect(await keep()).toBe(0);
  expect(await keep()).toBe(0);
});

test('months begin and end at midnight UTC without a gap, also where years end', async () => {
  expect(await keep(40, 14)).toBe(27);
  const made = await partitions();
  expect(made).toHaveLength(55);
  for (const [at, { name, low, high }] of made.entries()) {
    expect(low).toEqual(monthFromNow(at - 40));
    expect(high).toEqual(monthFromNow(at - 39));
    expect(name).toBe(monthName(low));
  }
});

test('a month that is missing in the middle is made again', async () => {
  const name = monthName(monthFromNow(-5));
  await drop(name);
  expect(await keep()).toBe(1);
  expect((await partitions()).map((partition) => partition.name)).toContain(name);
});

test('the time zone and date style of whoever calls do not move a month', async () => {
  const styles = ['ISO, MDY', 'SQL, DMY', 'Postgres, YMD', 'German'];
  for (const zone of ['Asia/Kolkata', 'America/St_Johns', 'Pacific/Kiritimati', 'Etc/GMT+12'])
    for (const style of styles) {
      const month = monthFromNow(3);
      await drop(monthName(month));
      const caller = await connectAs(database, 'trunkline_queue');
      await caller.query("select set_config('TimeZone', $1, false)", [zone]);
      await caller.query("select set_config('DateStyle', $1, false)", [style]);
      await caller.query('select ingest.keep_partitions()');
      const made = (await partitions()).find(({ name }) => name === monthName(month));
      expect([zone, style, made?.low, made?.high]).toEqual([zone, style, month, monthFromNow(4)]);
    }
});

test('the queue’s role may run it, without any right to make tables itself', async () => {
  const queue = await connectAs(database, 'trunkline_queue');
  await drop(monthName(monthFromNow(2)));
  const { rows } = await queue.query('select ingest.keep_partitions() as made');
  expect(rows).toEqual([{ made: 1 }]);
  await expect(queue.query('create table ingest.mine ()')).rejects.toThrow(/permission denied/);
  const runtime = await connectAs(database, 'trunkline_runtime');
  await expect(runtime.query('select ingest.keep_partitions()')).rejects.toThrow(
    /permission denied/,
  );
});

test('a month that is made later is as closed as the others', async () => {
  const name = monthName(monthFromNow(2));
  await drop(name);
  await keep();
  const runtime = await connectAs(database, 'trunkline_runtime');
  await expect(runtime.query(`select from ingest.${name}`)).rejects.toThrow(/permission denied/);
});

test('every month is vacuumed, frozen and counted as what only grows, whether it is new or was there', async () => {
  const [made, known] = [monthFromNow(2), monthFromNow(-7)].map(monthName);
  await drop(made ?? '');
  await database.owner.query(`alter table ingest.${known} reset (autovacuum_freeze_min_age)`);
  await keep();
  const { rows } = await database.owner.query(
    `select distinct reloptions from pg_inherits join pg_class on pg_class.oid = inhrelid
    where inhparent = 'ingest.events'::regclass`,
  );
  expect(rows).toEqual([
    {
      reloptions: [
        'autovacuum_vacuum_insert_scale_factor=0.05',
        'autovacuum_analyze_scale_factor=0.05',
        'autovacuum_freeze_min_age=0',
      ],
    },
  ]);
});

test('two workers keeping partitions at once make each month once, and neither fails', async () => {
  const queues = await Promise.all([1, 2].map(() => connectAs(database, 'trunkline_queue')));
  for (let round = 0; round < 5; round += 1) {
    for (const months of [1, 2, 3]) await drop(monthName(monthFromNow(months)));
    const made = await Promise.all(
      queues.map(
        async (queue) =>
          (await queue.query('select ingest.keep_partitions() as made')).rows[0].made,
      ),
    );
    expect(made.reduce((sum: number, count: number) => sum + count, 0)).toBe(3);
  }
});

test('the task keeps them through the queue’s own connection', async () => {
  const jobs = await connectAs(database, 'trunkline_queue');
  const name = monthName(monthFromNow(1));
  await drop(name);
  await keepPartitions({ ...database.deps, workerId: () => 'w', jobs, signal: NEVER })(
    {},
    {} as never,
  );
  expect((await partitions()).map((partition) => partition.name)).toContain(name);
});
