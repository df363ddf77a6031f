import { hint } from '../../src/base/hints.ts';
import { sendHint } from '../../src/delivery/delivery.ts';
import { residentMiB } from './installation.ts';
import type { Comparison } from './measure.ts';
import { openWorld, queueSends } from './sending.ts';
import type { World } from './sending.ts';

const BACKLOG_SENDS = 100_000;
const SMALL_BACKLOG_SENDS = 5_000;
const SMALL_BACKLOGS = BACKLOG_SENDS / SMALL_BACKLOG_SENDS;
const MEMORY_EVERY_MS = 500;

/** The most memory that a worker takes until a backlog is handed over. */
const memoryWith = async (world: World, pid: number, count: number): Promise<number> => {
  const rateOfAll = world.relay.expect(count);
  const samples: number[] = [];
  const sampling = setInterval(() => samples.push(residentMiB(pid)), MEMORY_EVERY_MS);
  await queueSends(world, count);
  await hint(world.installation.deps, sendHint(world.project.project_id, world.provider_id));
  await rateOfAll();
  clearInterval(sampling);
  return Math.max(...samples);
};

/**
 * Whether what waits takes memory of a worker. As many sends are handed over on both sides: the runtime makes room as
 * it works, whatever waits, and whoever is looked at longer is seen at a higher point.
 */
export const backlog = async (): Promise<Comparison[]> => {
  const world = await openWorld();
  const { pid = 0 } = (await world.installation.start('worker')).child;
  const small: number[] = [];
  for (let at = 0; at < SMALL_BACKLOGS; at += 1)
    small.push(await memoryWith(world, pid, SMALL_BACKLOG_SENDS));
  const large = await memoryWith(world, pid, BACKLOG_SENDS);
  await world.installation.close();
  world.relay.close();
  return [
    {
      name: `memory of a worker with a backlog of ${BACKLOG_SENDS} sends`,
      unit: 'MiB',
      measured: [large],
      comparedWith: `with ${SMALL_BACKLOG_SENDS}, ${SMALL_BACKLOGS} times`,
      comparison: [Math.max(...small)],
      good: { atMost: 1.2 },
    },
  ];
};
