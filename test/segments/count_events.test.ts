import { expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { accept } from '../../src/ingest/ingest.ts';
import { seeEvents } from '../../src/profiles/profiles.ts';
import { connectTo, rowsRead } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';
import { workOn } from '../support/work_on.ts';
import { create, listKept, ordered, recount, refreshOn } from './recount.ts';

const database = testDatabase();
const post = (projectId: string, event: string, external_id = 'ann') =>
  accept(database.deps, { projectId, kind: 'server' }, { events: [{ event, external_id }] });
const listChanged = async (projectId: string) =>
  (
    await database.owner.query('select profile_id from profiles.changes where project_id = $1', [
      projectId,
    ])
  ).rows;

test('a project without segments costs one look, and nothing is noted', async () => {
  const projectId = newId();
  await post(projectId, 'order_completed');
  const { rows } = await database.owner.query<{ flush_id: string }>(
    'select flush_id from ingest.pending where project_id = $1',
    [projectId],
  );
  const client = await connectTo(database, projectId);
  await client.query('begin');
  const { rows: answered } = await client.query(
    'select segments.count_events(project_id => $1, flush_ids => $2) as is_due',
    [projectId, rows.map(({ flush_id }) => flush_id)],
  );
  expect(answered).toEqual([{ is_due: false }]);
  for (const table of ['ingest.pending', 'segments.conditions', 'profiles.changes'])
    expect(await rowsRead(client, table)).toBe(0);
  await client.query('rollback');
  await workOn(database, projectId);
  expect(await listChanged(projectId)).toEqual([]);
});

test('only whom something was counted of is looked at, and enters', async () => {
  const projectId = newId();
  const { segment_id } = await create(database, projectId, ordered());
  await post(projectId, 'page_viewed', 'ann');
  await post(projectId, 'page_viewed', 'bob');
  await workOn(database, projectId);
  await refreshOn(database, projectId);
  expect(await listChanged(projectId)).toEqual([]);
  expect(await listKept(database, segment_id)).toEqual([]);
  await post(projectId, 'page_viewed', 'bob');
  await post(projectId, 'order_completed', 'ann');
  await workOn(database, projectId);
  expect(await listChanged(projectId)).toHaveLength(1);
  await refreshOn(database, projectId);
  expect(await listKept(database, segment_id)).toHaveLength(1);
  const { rows, expected } = await recount(database, projectId);
  expect(rows).toEqual(expected);
});

test('a process of the release before names no bound, so that no event of its flushes is late', async () => {
  const projectId = newId();
  await create(database, projectId, ordered());
  await refreshOn(database, projectId);
  const occurred_at = new Date(Date.now() - 86_400_000).toISOString();
  const event = { event: 'order_completed', external_id: 'ann', occurred_at };
  const flushIds = async () =>
    (
      await database.owner.query<{ flush_id: string }>(
        'select flush_id from ingest.pending where project_id = $1',
        [projectId],
      )
    ).rows.map(({ flush_id }) => flush_id);
  const client = await connectTo(database, projectId);
  const kindsOf = async (bound: string) => {
    await accept(database.deps, { projectId, kind: 'server' }, { events: [event] });
    await inProject(database.deps, projectId, async (scope) => seeEvents(scope, await flushIds()));
    await client.query('begin');
    await client.query('delete from profiles.changes where project_id = $1', [projectId]);
    await client.query(`select segments.count_events(project_id => $1, flush_ids => $2 ${bound})`, [
      projectId,
      await flushIds(),
    ]);
    const { rows } = await client.query(
      "select reason ->> 'kind' as kind from profiles.changes where project_id = $1",
      [projectId],
    );
    await client.query('rollback');
    return rows;
  };
  expect(await kindsOf('')).toEqual([{ kind: null }]);
  expect(await kindsOf(', late_ms => 60000')).toEqual([{ kind: 'late' }]);
});
