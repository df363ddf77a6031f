import { createProject } from '../../src/projects/projects.ts';
import { keepExample } from '../../src/runtime/example.ts';
import { openInstallation } from './installation.ts';
import { askAtPace } from './load.ts';
import { median } from './measure.ts';
import type { Comparison } from './measure.ts';
import { sampleEvent, senderOf } from './neighbour.ts';
import { startRelay } from './relay_process.ts';
import { makePeople, PEOPLE, SEGMENTS } from './segments_beside.ts';

const ROUNDS = 5;
const ALONE_SAMPLES = 20;
const WARM_UP_SAMPLES = 20;
const PACED_MS = 5_000;
const CONNECTIONS = 4;
const BATCH_EVENTS = 50;
const EVENTS_PER_SECOND = 500;

let made = 0;
/** Events of people who are known, each of which one of the segments asks for. */
const nextBatch = (): string =>
  JSON.stringify({
    events: Array.from({ length: BATCH_EVENTS }, () => {
      made += 1;
      return {
        event: `event_${1 + 2 * (made % (SEGMENTS / 2))}`,
        external_id: `user-${1 + (made % PEOPLE)}`,
      };
    }),
  });

const openWorld = async () => {
  const installation = await openInstallation();
  const { deps } = installation;
  const relay = await startRelay();
  const quiet = await keepExample(deps, null, { ...senderOf('quiet.test'), ...relay.settings });
  const busy = await createProject(deps, 'busy');
  await makePeople(installation, busy.project_id, SEGMENTS);
  const { port } = await installation.start('all');
  return { installation, relay, quiet, busy, port, base: `http://127.0.0.1:${port}` };
};
type World = Awaited<ReturnType<typeof openWorld>>;

let samples = 0;
const sampleWhile = async (world: World, goesOn: (taken: number) => boolean): Promise<number> => {
  const latencies: number[] = [];
  while (goesOn(latencies.length)) {
    samples += 1;
    latencies.push(await sampleEvent(world, `person-${samples}`));
  }
  return median(latencies);
};

const sampleBeside = async (world: World): Promise<number> => {
  const { port, busy } = world;
  const load = {
    port,
    connections: CONNECTIONS,
    path: '/v1/events/batch',
    token: busy.server_key,
  };
  const pace = { perSecond: EVENTS_PER_SECOND / BATCH_EVENTS, forMs: PACED_MS };
  let isOver = false;
  const loading = askAtPace(load, nextBatch, pace).finally(() => (isOver = true));
  const latency = await sampleWhile(world, () => !isOver);
  await loading;
  return latency;
};

/** What a quiet project notices of a neighbour with sixty segments, each of whose events moves a counter of one. */
export const segmentsNeighbour = async (): Promise<Comparison> => {
  const world = await openWorld();
  await sampleWhile(world, (taken) => taken < WARM_UP_SAMPLES);
  const [measured, comparison]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    comparison.push(await sampleWhile(world, (taken) => taken < ALONE_SAMPLES));
    measured.push(await sampleBeside(world));
  }
  await world.installation.close();
  world.relay.close();
  return {
    name: `event accepted → first byte, beside ${SEGMENTS} segments and ${EVENTS_PER_SECOND} events/s for them, median`,
    unit: 'ms',
    measured,
    comparedWith: 'the same project alone',
    comparison,
    good: { atMost: 2 },
  };
};
