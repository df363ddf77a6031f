import { z } from 'zod';
import { task } from '../../src/base/task.ts';
import { FIRST_DEVICE, pruneDevices } from '../../src/ingest/ingest.ts';
import { everyProject, pruneInRounds } from '../../src/projects/projects.ts';

/** Deletes pairs of a device and a person once their events are gone. Safe to repeat. */
export default task(z.unknown(), async (_payload, deps) => {
  const rounds = { projects: everyProject(deps), first: FIRST_DEVICE, signal: deps.signal };
  const pruned = await pruneInRounds(deps, rounds, pruneDevices);
  deps.log.info({ pruned }, 'pairs of devices and people pruned');
});
