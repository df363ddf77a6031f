import { z } from 'zod';
import { FIRST_ID } from '../../src/base/ids.ts';
import { task } from '../../src/base/task.ts';
import { findCutoffs } from '../../src/delivery/delivery.ts';
import { pruneRefusedLinks } from '../../src/identity/identity.ts';
import { everyProject, pruneInRounds } from '../../src/projects/projects.ts';

/** Deletes links that were refused before timelines begin. Safe to repeat: what is left is found again. */
export default task(z.unknown(), async (_payload, deps) => {
  const rounds = { projects: everyProject(deps), first: FIRST_ID, signal: deps.signal };
  const pruned = await pruneInRounds(deps, rounds, async (scope, after) => {
    const { events } = await findCutoffs(scope, deps.config.retentionMonths);
    return pruneRefusedLinks(scope, events, after);
  });
  deps.log.info({ pruned }, 'old refused links pruned');
});
