import { z } from 'zod';
import { mayPruneRuns, pruneRuns } from '../../src/automations/automations.ts';
import { FIRST_ID } from '../../src/base/ids.ts';
import { task } from '../../src/base/task.ts';
import { findCutoffs } from '../../src/delivery/delivery.ts';
import { everyProject, pruneInRounds } from '../../src/projects/projects.ts';

/** Deletes runs that ended before what the project keeps. Safe to repeat: a run that is gone is counted once. */
export default task(z.unknown(), async (_payload, deps) => {
  if (!(await mayPruneRuns(deps.db))) {
    deps.log.info('old runs stay until a day after the migration');
    return;
  }
  const rounds = { projects: everyProject(deps), first: FIRST_ID, signal: deps.signal };
  const pruned = await pruneInRounds(deps, rounds, async (scope, after) => {
    const { runs } = await findCutoffs(scope, deps.config.retentionMonths);
    return pruneRuns(scope, runs, after);
  });
  deps.log.info({ pruned }, 'old runs pruned');
});
