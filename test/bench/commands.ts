import { createActive } from '../../src/automations/automations.ts';
import type { NewDefinition } from '../../src/automations/schema.ts';
import { inProject } from '../../src/base/db.ts';
import { createProject } from '../../src/projects/projects.ts';
import { withClient } from '../../src/runtime/with_client.ts';
import { deleteSegments } from './delete_segment.ts';
import { openInstallation } from './installation.ts';
import type { Comparison } from './measure.ts';

const RUNS = 1_000_000;
const FEW_RUNS = 1_000;
const COMMANDS = ['pause', 'resume', 'move', 'archive', 'delete'] as const;
const SECOND_MS = 1_000;

const DEFINITION: NewDefinition = {
  trigger: { kind: 'event', event: 'user_signed_up', where: [] },
  settings: { re_entry: 'every_time' },
  entry: 'hour',
  steps: {
    hour: { kind: 'delay', duration: 'PT1H', next: 'mark' },
    mark: { kind: 'update_profile', traits: { is_marked: true }, next: null },
  },
};

const openWorld = async () => {
  const installation = await openInstallation();
  const project = await createProject(installation.deps, 'commands');
  const { port } = await installation.start('api');
  await installation.start('worker');
  const ask = <Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> =>
    withClient(installation.url, async (client) => (await client.query<Row>(text, values)).rows);
  const call = async (method: string, path: string, body: object = {}): Promise<Response> => {
    const response = await fetch(`http://127.0.0.1:${port}/v1/automations/${path}`, {
      method,
      headers: {
        authorization: `Bearer ${project.server_key}`,
        'content-type': 'application/json',
      },
      body: method === 'POST' ? JSON.stringify(body) : null,
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response;
  };
  const post = (path: string, body: object = {}) => call('POST', path, body);
  const command = (automationId: string, kind: (typeof COMMANDS)[number]) =>
    kind === 'delete' ? call('DELETE', automationId) : post(`${automationId}/${kind}`);
  return { installation, projectId: project.project_id, ask, post, command };
};
type World = Awaited<ReturnType<typeof openWorld>>;

/** An automation with a second version and so many runs frozen on the first, as after a long pause. */
const fill = async ({ installation, projectId, ask, post }: World, runs: number) => {
  const automationId = await inProject(installation.deps, projectId, (scope) =>
    createActive(scope, `with ${runs}`, DEFINITION),
  );
  await ask(
    `insert into automations.runs (project_id, run_id, automation_id, version, identity_id, trigger_event_id,
      trigger_event_at, entry_key, status, step_id, wake_at, waits_until, started_at)
    select $1, gen_random_uuid(), $2, 1, gen_random_uuid(), gen_random_uuid(), now(), gen_random_uuid()::text,
      'paused', 'hour', now() + interval '1 day', now() + interval '1 day', now()
    from generate_series(1, $3)`,
    [projectId, automationId, runs],
  );
  await ask('analyze automations.runs');
  await post(`${automationId}/versions`, { after_version: 1, definition: DEFINITION });
  await post(`${automationId}/activate`);
  return automationId;
};

/** The longest that one of the commands takes to answer, each with the pieces of those before it still under way. */
const longest = async ({ command }: World, automationId: string): Promise<number> => {
  const took: number[] = [];
  for (const kind of COMMANDS) {
    const startedAt = performance.now();
    await (await command(automationId, kind)).arrayBuffer();
    took.push(performance.now() - startedAt);
    console.log(`  ${kind}: ${Math.round(took.at(-1) ?? NaN)} ms`);
  }
  return Math.max(...took);
};

/** How long commands on an automation or a segment with a million people take to answer, against a second. */
export const commands = async (): Promise<Comparison[]> => {
  const world = await openWorld();
  const [few, many] = [await fill(world, FEW_RUNS), await fill(world, RUNS)];
  const [ofFew, ofMany] = [await longest(world, few), await longest(world, many)];
  await world.installation.close();
  return [
    {
      name: `a command on an automation with ${RUNS} people inside, the longest of ${COMMANDS.join(', ')}`,
      unit: 'ms',
      measured: [ofMany],
      comparedWith: `a second; with ${FEW_RUNS} people: ${Math.round(ofFew)} ms`,
      comparison: [SECOND_MS],
      good: { atMost: 1 },
    },
    ...(await deleteSegments()),
  ];
};
