// One process with the role `all`: jobs that wait for locks hold up no request.
import { expect, test } from 'vitest';
import { createProject } from '../../src/projects/projects.ts';
import { listWaiting } from '../base/connections.ts';
import { until } from '../support/until.ts';
import { testWorld } from '../support/world.ts';

const TEST_TIMEOUT_MS = 120_000;
/** As many as the process runs at a time, and as many as its pool for requests has connections. */
const JOBS = 10;
/** More projects than jobs: other recurring work ends in the meantime and leaves its place. */
const PROJECTS = 15;

const world = testWorld();

const call = (port: number, key: string, path: string, body?: object) =>
  fetch(`http://127.0.0.1:${port}${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });

const countWaiting = async (): Promise<number> =>
  (await listWaiting(world.owner)).filter(({ usename }) => usename === 'trunkline_runtime').length;

test(
  'a request is answered while every job of the process waits for a lock',
  { timeout: TEST_TIMEOUT_MS },
  async () => {
    const { port } = await world.start('all');
    const projects = await Promise.all(
      Array.from({ length: PROJECTS }, (_, at) => createProject(world.deps, `project ${at}`)),
    );
    await world.owner.query('begin');
    await world.owner.query('lock table profiles.profiles in access exclusive mode');
    const event = { event: 'signed_up', external_id: 'ann' };
    for (const { server_key } of projects)
      expect((await call(port, server_key, '/v1/events', event)).status).toBe(202);
    await until('every job waits', async () => (await countWaiting()) === JOBS);

    const answer = await call(port, world.project.server_key, '/v1/suppressions');
    expect(answer.status).toBe(200);
    // The answer did not need a job to end first.
    expect(await countWaiting()).toBe(JOBS);
    await world.owner.query('rollback');
  },
);
