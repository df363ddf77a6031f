import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { connectAs, connectTo } from './connections.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();

const opened = async () => {
  await database.owner.query(`
    drop table if exists projects.work;
    create table projects.work (project_id uuid not null, due integer not null, secret text not null);
    grant select, insert on projects.work to trunkline_runtime;
    grant select (project_id, due) on projects.work to trunkline_queue;
    select base.isolate_table('projects.work');
    select base.open_to_queue('projects.work')`);
  for (const due of [1, 2]) {
    const projectId = newId();
    const project = await connectTo(database, projectId);
    await project.query('insert into projects.work values ($1, $2, $3)', [projectId, due, 'x']);
  }
  return connectAs(database, 'trunkline_queue');
};

test('the queue sees the work of every project', async () => {
  const queue = await opened();
  const { rows } = await queue.query('select due from projects.work order by due');
  expect(rows).toEqual([{ due: 1 }, { due: 2 }]);
});

test('the queue sees no column that it was not granted', async () => {
  const queue = await opened();
  for (const wanted of ['secret', '*'])
    await expect(queue.query(`select ${wanted} from projects.work`)).rejects.toThrow(/permission/);
});

test('the queue changes nothing, even where it was granted to', async () => {
  const queue = await opened();
  await database.owner.query('grant insert, update, delete on projects.work to trunkline_queue');
  expect((await queue.query('update projects.work set due = 0')).rowCount).toBe(0);
  expect((await queue.query('delete from projects.work')).rowCount).toBe(0);
  await expect(
    queue.query("insert into projects.work values ($1, 3, 'x')", [newId()]),
  ).rejects.toThrow(/row-level security/);
});

test('the runtime role still sees one project', async () => {
  await opened();
  const runtime = await connectAs(database, 'trunkline_runtime');
  expect((await runtime.query('select from projects.work')).rowCount).toBe(0);
});

test('opening twice is as once', async () => {
  const queue = await opened();
  await database.owner.query("select base.open_to_queue('projects.work')");
  expect((await queue.query('select due from projects.work')).rowCount).toBe(2);
});

test('only ids, times, states and priorities of these tables are open to the queue', async () => {
  await database.owner.query('drop table if exists projects.work');
  const { rows } = await database.owner.query(`
    select table_schema || '.' || table_name as name, array_agg(column_name::text order by column_name) as columns
    from information_schema.column_privileges
    where grantee = 'trunkline_queue' and table_schema in
      ('ingest', 'delivery', 'automations', 'projects', 'profiles', 'providers', 'segments')
    group by name order by name`);
  expect(rows).toEqual([
    { name: 'automations.automations', columns: ['automation_id', 'project_id', 'status'] },
    {
      name: 'automations.commands',
      columns: ['automation_id', 'project_id', 'requested_at'],
    },
    {
      name: 'automations.endpoints',
      columns: ['endpoint_id', 'paused_until', 'project_id', 'status'],
    },
    {
      name: 'automations.pending_merges',
      columns: ['noted_at', 'profile_id', 'project_id'],
    },
    {
      name: 'automations.runs',
      columns: ['goes_first', 'project_id', 'source', 'status', 'wake_at'],
    },
    { name: 'automations.schedules', columns: ['next_at', 'project_id', 'status'] },
    { name: 'automations.segment_readers', columns: ['project_id', 'seen_entry'] },
    {
      name: 'automations.segment_starts',
      columns: ['automation_id', 'due_at', 'project_id', 'requested_at', 'start_id', 'status'],
    },
    {
      name: 'automations.webhook_deliveries',
      columns: ['due_at', 'endpoint_id', 'lease_until', 'project_id', 'status'],
    },
    { name: 'delivery.ended', columns: ['ended_at', 'project_id', 'retry_at', 'step_id'] },
    {
      name: 'delivery.sends',
      columns: [
        'automation_id',
        'due_at',
        'expires_at',
        'handed_off_at',
        'lease_owner',
        'lease_until',
        'priority',
        'project_id',
        'provider_id',
        'status',
      ],
    },
    {
      name: 'ingest.pending',
      columns: ['flush_id', 'project_id', 'received_at', 'retry_at'],
    },
    { name: 'profiles.changes', columns: ['change_id', 'noted_at', 'project_id'] },
    {
      name: 'profiles.erasures',
      columns: ['erasure_id', 'project_id', 'requested_at', 'status'],
    },
    { name: 'profiles.trait_changes', columns: ['noted_at', 'project_id'] },
    {
      name: 'providers.bounce_mailboxes',
      columns: ['next_read_at', 'project_id', 'provider_id', 'status'],
    },
    {
      name: 'providers.paces',
      columns: ['probed_by', 'project_id', 'provider_id', 'ramp_day', 'wakes_at'],
    },
    {
      name: 'providers.providers',
      columns: ['project_id', 'provider_id', 'status'],
    },
    { name: 'segments.projects', columns: ['due_at', 'last_entry', 'project_id'] },
    { name: 'segments.wakeups', columns: ['project_id', 'wake_at'] },
  ]);
});
