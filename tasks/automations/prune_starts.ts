import { z } from 'zod';
import { pruneStarts } from '../../src/automations/automations.ts';
import { FIRST_ID } from '../../src/base/ids.ts';
import { task } from '../../src/base/task.ts';
import { findCutoffs } from '../../src/delivery/delivery.ts';
import { everyProject, pruneInRounds } from '../../src/projects/projects.ts';

/** Deletes starts of segments that ended long ago and have no runs. Safe to repeat: what is left is found again. */
export default task(z.unknown(), async (_payload, deps) => {
  const rounds = { projects: everyProject(deps), first: FIRST_ID, signal: deps.signal };
  const pruned = await pruneInRounds(deps, rounds, async (scope, after) => {
    const { runs } = await findCutoffs(scope, deps.config.retentionMonths);
    return pruneStarts(scope, runs, after);
  });
  deps.log.info({ pruned }, 'old starts pruned');
});
