// One process with the role `all`: jobs that wait for locks hold up no request.
import { expect, test } from 'vitest';
import { accept } from '../../src/ingest/ingest.ts';
import { createProject } from '../../src/projects/projects.ts';
import { connectTo } from '../base/connections.ts';
import { until } from '../support/until.ts';
import { testWorld } from '../support/world.ts';

const TEST_TIMEOUT_MS = 120_000;
/** As many as the process runs at a time, and as many as its pool for requests has connections. */
const JOBS = 10;

const world = testWorld();

const store = (projectId: string, event: string) =>
  accept(
    world.deps,
    { projectId, kind: 'server' },
    { events: [{ event, external_id: 'ann', properties: {} }] },
  );

const countPeople = async (): Promise<number> => {
  const { rows } = await world.owner.query<{ people: number }>(
    'select count(*)::integer as people from profiles.profiles',
  );
  return rows[0]?.people ?? 0;
};

const countWaiting = async (): Promise<number> => {
  const { rows } = await world.owner.query<{ waiting: number }>(
    `select count(*)::integer as waiting from pg_stat_activity
    where datname = current_database() and usename = 'trunkline_runtime' and wait_event_type = 'Lock'`,
  );
  return rows[0]?.waiting ?? 0;
};

test(
  'a request is answered while every job of the process waits for a lock',
  { timeout: TEST_TIMEOUT_MS },
  async () => {
    const service = await world.start('all');
    const projects = await Promise.all(
      Array.from({ length: JOBS }, (_, at) => createProject(world.deps, `project ${at}`)),
    );
    const before = await countPeople();
    for (const { project_id: projectId } of projects) await store(projectId, 'signed_up');
    await until('each project has a person', async () => (await countPeople()) === before + JOBS);
    for (const { project_id: projectId } of projects) {
      const holder = await connectTo(world, projectId);
      await holder.query('begin');
      await holder.query('select from profiles.profiles where project_id = $1 for update', [
        projectId,
      ]);
    }
    for (const { project_id: projectId } of projects) await store(projectId, 'came_back');
    await until('every job waits', async () => (await countWaiting()) === JOBS);

    const answer = await fetch(`http://127.0.0.1:${service.port}/v1/suppressions`, {
      headers: { authorization: `Bearer ${world.project.server_key}` },
    });
    expect(answer.status).toBe(200);
    // The answer did not need a job to end first.
    expect(await countWaiting()).toBe(JOBS);
  },
);
