import { z } from 'zod';
import { FIRST_REFUSAL, pruneRefusals } from '../../src/automations/automations.ts';
import { task } from '../../src/base/task.ts';
import { findCutoffs } from '../../src/delivery/delivery.ts';
import { everyProject, pruneInRounds } from '../../src/projects/projects.ts';

/** Deletes why people were not enrolled before timelines begin. Safe to repeat: what is left is found again. */
export default task(z.unknown(), async (_payload, deps) => {
  const rounds = { projects: everyProject(deps), first: FIRST_REFUSAL, signal: deps.signal };
  const pruned = await pruneInRounds(deps, rounds, async (scope, after) => {
    const { events } = await findCutoffs(scope, deps.config.retentionMonths);
    return pruneRefusals(scope, events, after);
  });
  deps.log.info({ pruned }, 'old refusals of entries pruned');
});
