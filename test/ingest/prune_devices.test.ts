// Pairs of a device and a person go after their events, and no erase misses any.
import { beforeEach, expect, test } from 'vitest';
import pruneDevicesJob from '../../tasks/ingest/prune_devices.ts';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { FIRST_DEVICE, PRUNED_DEVICES_MAX, pruneDevices } from '../../src/ingest/prune_devices.ts';
import { createProject } from '../../src/projects/projects.ts';
import { openErasable, unique } from '../profiles/erasable.ts';
import { testDatabase } from '../support/database.ts';
import { DEFAULTS } from '../support/defaults.ts';
import { findRemains } from '../support/remains.ts';
import { asWorker } from '../support/work_on.ts';

const { retentionMonths } = DEFAULTS;
const database = testDatabase();

beforeEach(() => database.owner.query(`select ingest.keep_partitions(${retentionMonths}, 3)`));

const monthsAgo = (months: number): string => {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months, 1))
    .toISOString()
    .slice(0, 10);
};
/** The first month whose pairs stay. */
const BOUND = retentionMonths + 1;

const see = (projectId: string, device: string, months: number, copies = 1) =>
  database.owner.query(
    `insert into ingest.devices (project_id, anonymous_id, external_id, last_month)
    select $1, $2 || copy, 'ann', $3 from generate_series(1, $4) as copy`,
    [projectId, device, monthsAgo(months), copies],
  );
const listed = async (projectId: string): Promise<string[]> =>
  (
    await database.owner.query<{ anonymous_id: string }>(
      'select anonymous_id from ingest.devices where project_id = $1 order by 1',
      [projectId],
    )
  ).rows.map(({ anonymous_id }) => anonymous_id);
const prune = (projectId: string, after = FIRST_DEVICE) =>
  inProject(database.deps, projectId, (scope) => pruneDevices(scope, after));

test('a pair goes a month after the month of its last event, in every project', async () => {
  const projects = await Promise.all(['a', 'b'].map((name) => createProject(database.deps, name)));
  for (const { project_id } of projects) {
    await see(project_id, 'gone', BOUND + 1);
    await see(project_id, 'kept', BOUND);
    await see(project_id, 'new', 0);
  }
  await pruneDevicesJob(asWorker(database))({}, undefined as never);
  for (const { project_id } of projects)
    expect(await listed(project_id)).toEqual(['kept1', 'new1']);
});

test('a month that is still on the timeline keeps its pairs, however old it is', async () => {
  const projectId = newId();
  await see(projectId, 'd', BOUND + 1);
  await database.owner.query(`select ingest.keep_partitions(${retentionMonths + 1}, 3)`);
  expect(await prune(projectId)).toEqual({ pruned: 0, after: null });
  await database.owner.query(
    `drop table ingest.events_${monthsAgo(retentionMonths + 1)
      .slice(0, 7)
      .replace('-', '')}`,
  );
  expect(await prune(projectId)).toEqual({ pruned: 1, after: null });
});

test('a pair that is seen again stays, and an erase of the device finds its event', async () => {
  const { projectId, track, work, ask, run } = openErasable(database);
  const device = unique('device');
  await track({ external_id: 'bob', anonymous_id: device });
  await work();
  await database.owner.query('update ingest.devices set last_month = $2 where project_id = $1', [
    projectId,
    monthsAgo(BOUND + 1),
  ]);
  await track({ external_id: 'bob', anonymous_id: device });
  await work();
  expect(await prune(projectId)).toEqual({ pruned: 0, after: null });
  await run(await ask(device, 'anonymous'));
  expect(await findRemains(database.owner, [device])).toEqual([]);
});

test('one batch takes a bounded number, and goes on behind it; a locked pair is left', async () => {
  const projectId = newId();
  await see(projectId, 'd', BOUND + 1, PRUNED_DEVICES_MAX + 2);
  await database.owner.query('begin');
  await database.owner.query(
    `select from ingest.devices where project_id = $1 and anonymous_id = (
      select anonymous_id from ingest.devices where project_id = $1 order by anonymous_id limit 1) for update`,
    [projectId],
  );
  const first = await prune(projectId);
  expect(first.pruned).toBe(PRUNED_DEVICES_MAX - 1);
  expect(await prune(projectId, first.after ?? '')).toEqual({ pruned: 2, after: null });
  await database.owner.query('rollback');
  expect(await listed(projectId)).toHaveLength(1);
  expect(await prune(projectId)).toEqual({ pruned: 1, after: null });
});
