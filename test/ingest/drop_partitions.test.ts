import { beforeEach, expect, test } from 'vitest';
import dropPartitions from '../../tasks/ingest/drop_partitions.ts';
import { newId } from '../../src/base/ids.ts';
import { acceptEvents } from '../../src/ingest/queries.ts';
import { createProject } from '../../src/projects/projects.ts';
import { connectAs, untilWaiting } from '../base/connections.ts';
import { NEVER, testDatabase } from '../support/database.ts';
import { DEFAULTS } from '../support/defaults.ts';
import { keyOf, newEvent } from './some_events.ts';

const { retentionMonths } = DEFAULTS;
const database = testDatabase();

const monthStart = (monthsAgo: number): Date => {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - monthsAgo, 1));
};

beforeEach(() => database.owner.query(`select ingest.keep_partitions(${retentionMonths + 2}, 3)`));

const run = async (signal = NEVER): Promise<void> => {
  const jobs = await connectAs(database, 'trunkline_queue');
  await dropPartitions({ ...database.deps, workerId: () => 'w', jobs, signal })({}, {} as never);
};
const accept = (projectId: string, messageId: string, occurredAt: Date) =>
  acceptEvents(database.deps.db, projectId, newId(), [
    newEvent({ message_id: messageId, occurred_at: occurredAt.toISOString() }),
  ]);
const listIds = async (projectId: string): Promise<string[]> => {
  const { rows } = await database.owner.query<{ message_key: string }>(
    'select message_key from ingest.message_ids where project_id = $1 order by 1',
    [projectId],
  );
  return rows.map(({ message_key }) => message_key);
};
const listEvents = async (projectId: string): Promise<Date[]> => {
  const { rows } = await database.owner.query<{ occurred_at: Date }>(
    'select occurred_at from ingest.events where project_id = $1 order by 1',
    [projectId],
  );
  return rows.map(({ occurred_at }) => occurred_at);
};
const countMonths = async (): Promise<number> =>
  (
    await database.owner.query(
      `select from pg_inherits where inhparent = 'ingest.events'::regclass`,
    )
  ).rowCount ?? 0;

test('months before the retention window go, with the message ids of their events, in every project', async () => {
  const projects = await Promise.all(['a', 'b'].map((name) => createProject(database.deps, name)));
  for (const { project_id } of projects) {
    await accept(project_id, 'old', monthStart(retentionMonths + 2));
    await accept(project_id, 'last', new Date(monthStart(retentionMonths).getTime() - 1));
    await accept(project_id, 'first', monthStart(retentionMonths));
    await accept(project_id, 'new', new Date());
  }
  await run();
  expect(await countMonths()).toBe(retentionMonths + 4);
  for (const { project_id } of projects) {
    expect(await listIds(project_id)).toEqual([keyOf('first'), keyOf('new')].toSorted());
    expect(await listEvents(project_id)).toHaveLength(2);
  }
  await run();
  expect(await countMonths()).toBe(retentionMonths + 4);
});

test('more ids than one transaction looks at are all forgotten', async () => {
  const { project_id } = await createProject(database.deps, 'many');
  await database.owner.query(
    `insert into ingest.message_ids
    select $1, gen_random_uuid(), gen_random_uuid(), case when n % 2 = 0 then now() else $2::timestamptz end
    from generate_series(1, 12000) as n`,
    [project_id, monthStart(retentionMonths + 1)],
  );
  await run();
  expect(await listIds(project_id)).toHaveLength(6_000);
});

test('a message id is free again once its event is gone', async () => {
  const { project_id } = await createProject(database.deps, 'again');
  await accept(project_id, 'm', monthStart(retentionMonths + 1));
  await run();
  const { duplicates } = await accept(project_id, 'm', new Date());
  expect(duplicates).toEqual([false]);
});

test('a job that was stopped half-way is finished by the next one', async () => {
  const { project_id } = await createProject(database.deps, 'stopped');
  await accept(project_id, 'old', monthStart(retentionMonths + 1));
  await expect(run(AbortSignal.abort())).rejects.toThrow(/^AbortError$/);
  expect(await countMonths()).toBe(retentionMonths + 6);
  await run();
  expect(await countMonths()).toBe(retentionMonths + 4);
  expect(await listIds(project_id)).toEqual([]);
});

test('while somebody reads the timeline for long, the job asks again until it is free', async () => {
  const reader = await connectAs(database, 'trunkline_runtime');
  await reader.query('begin');
  await reader.query('select /* trial */ from ingest.events');
  const done = run();
  await untilWaiting(database);
  await reader.query('commit');
  await done;
  expect(await countMonths()).toBe(retentionMonths + 4);
});

test('without an expired month nothing is looked at', async () => {
  await run();
  const { project_id } = await createProject(database.deps, 'idle');
  await accept(project_id, 'kept', monthStart(retentionMonths - 1));
  await run();
  expect(await listIds(project_id)).toEqual([keyOf('kept')]);
});
