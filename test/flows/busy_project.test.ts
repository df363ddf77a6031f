// One project whose jobs all wait leaves places of the worker to others.
import { expect, test } from 'vitest';
import { accept } from '../../src/ingest/ingest.ts';
import { createProject } from '../../src/projects/projects.ts';
import { listWaiting } from '../base/connections.ts';
import { until } from '../support/until.ts';
import { testWorld } from '../support/world.ts';

const TEST_TIMEOUT_MS = 120_000;
const WORKER_CONCURRENCY = 10;
/** A project has two fifths of the jobs (PROJECT_JOBS_PART 0.4), and half of that of one kind (KIND_PART 0.5). */
const SHARE = 2;

const world = testWorld();

const countWaiting = async (): Promise<number> =>
  (await listWaiting(world.owner)).filter(({ usename }) => usename === 'trunkline_runtime').length;

test(
  'attack: events of one project, however slow their jobs are, hold up no email of another project',
  { timeout: TEST_TIMEOUT_MS },
  async () => {
    const busy = await createProject(world.deps, 'busy');
    const caller = { projectId: busy.project_id, kind: 'server' } as const;
    const post = () =>
      accept(world.deps, caller, { events: [{ event: 'page_viewed', external_id: 'ann' }] });
    const isProcessed = async () =>
      (await world.owner.query('select from ingest.pending')).rowCount === 0;
    await world.start('worker', { WORKER_CONCURRENCY: String(WORKER_CONCURRENCY) });
    await post();
    await until('the person is known', isProcessed);
    await world.owner.query('begin');
    await world.owner.query('select from identity.identities where project_id = $1 for update', [
      busy.project_id,
    ]);
    // Each event wakes the worker once more while the jobs before it wait for the person.
    const counts = new Set<number>();
    await until('the project has its share of the jobs', async () => {
      await post();
      const count = await countWaiting();
      counts.add(count);
      return count === SHARE;
    });
    for (const person of ['ben', 'cid', 'dan']) {
      await post();
      await world.signUp(person);
      await until('the email is accepted', async () => {
        counts.add(await countWaiting());
        return (await world.sendsTo(person)).at(-1)?.status === 'accepted';
      });
    }
    expect(Math.max(...counts)).toBe(SHARE);
    await world.owner.query('rollback');
    await until('the events of the busy project are processed', isProcessed);
  },
);
