import { advanceHint, createActive } from '../../src/automations/automations.ts';
import { inProject } from '../../src/base/db.ts';
import { hint } from '../../src/base/hints.ts';
import { newId } from '../../src/base/ids.ts';
import { createSegment } from '../../src/segments/segments.ts';
import { keepAutomation, makeDue } from './due_runs.ts';
import { checkpoint } from './installation.ts';
import { median, quantile } from './measure.ts';
import type { Comparison } from './measure.ts';
import { firstBytes, openWorld } from './sending.ts';

const RUNS = 100_000;
const SAMPLES_PER_SECOND = 10;
const P99 = 0.99;
const P99_MS_MAX = 2_000;

const openBusy = async () => {
  const world = await openWorld();
  const { deps } = world.installation;
  const { project_id: projectId } = world.project;
  const automationId = await keepAutomation(world.installation, projectId);
  const byHandId = await inProject(deps, projectId, (scope) =>
    createActive(scope, 'by hand', {
      trigger: { kind: 'manual' },
      settings: { re_entry: 'every_time' },
      entry: 'mark',
      steps: { mark: { kind: 'update_profile', traits: { is_marked: true }, next: null } },
    }),
  );
  const { port } = await world.installation.start('api');
  await world.installation.start('worker');
  return { ...world, automationId, byHandId, port };
};
type Busy = Awaited<ReturnType<typeof openBusy>>;

const sample = (world: Busy): Promise<number[]> =>
  firstBytes(world, world.port, SAMPLES_PER_SECOND);

const startByHand = async ({ port, project, byHandId }: Busy, segmentId: string): Promise<void> => {
  const path = `/v1/automations/${byHandId}/segment-starts`;
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${project.server_key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ segment_id: segmentId }),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
};

/** Makes 100,000 runs due, and starts their people once more by hand. */
const beginWork = async (world: Busy): Promise<void> => {
  const { ask, project, installation, automationId } = world;
  const { project_id: projectId } = project;
  await makeDue({ ask, busy: project, automationId }, RUNS);
  const segmentId = newId();
  await inProject(installation.deps, projectId, (scope) =>
    createSegment(scope, { segmentId, name: 'All', definition: null }),
  );
  await ask(
    `insert into segments.members (project_id, segment_id, profile_id, entered_at)
    select $1, $2, profile_id, now() from profiles.profiles where project_id = $1 and traits ? 'is_marked' limit $3`,
    [projectId, segmentId, RUNS],
  );
  await ask('vacuum analyze automations.runs, segments.members, profiles.profiles');
  await checkpoint(installation.url);
  await hint(installation.deps, advanceHint(projectId));
  await startByHand(world, segmentId);
};

/** What is left: runs that are due, and whether the start goes on. */
const readLeft = async ({ ask, project }: Busy): Promise<{ due: number; starts: number }> => {
  const [left] = await ask<{ due: number; starts: number }>(
    `select (select count(*)::int from automations.runs
      where project_id = $1 and status = 'active' and wake_at <= now()) as due,
      (select count(*)::int from automations.segment_starts where project_id = $1 and status = 'running') as starts`,
    [project.project_id],
  );
  return left ?? { due: 0, starts: 0 };
};

/** From an event to the first byte of its email, beside 100,000 due runs and a bulk start, and alone. */
export const freshRuns = async (): Promise<Comparison[]> => {
  const world = await openBusy();
  await sample(world);
  const alone = await sample(world);
  await beginWork(world);
  const beside = await sample(world);
  const { due, starts } = await readLeft(world);
  console.log(`  left after the samples: ${due} due runs, ${starts} start under way`);
  if (due === 0 || starts === 0) throw new Error('the work ended before the samples did');
  await world.installation.close();
  world.relay.close();
  const name = `event accepted → first byte, beside ${RUNS} due runs and a start of ${RUNS}`;
  return [
    {
      name: `${name}, median`,
      unit: 'ms',
      measured: [median(beside)],
      comparedWith: 'the same alone',
      comparison: [median(alone)],
      good: { atMost: 2 },
    },
    {
      name: `${name}, 99th percentile`,
      unit: 'ms',
      measured: [quantile(beside, P99)],
      comparedWith: 'two seconds',
      comparison: [P99_MS_MAX],
      good: { atMost: 1 },
    },
  ];
};
