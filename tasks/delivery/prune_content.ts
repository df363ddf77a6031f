import { z } from 'zod';
import { FIRST_ID } from '../../src/base/ids.ts';
import { task } from '../../src/base/task.ts';
import { findCutoffs, pruneContent } from '../../src/delivery/delivery.ts';
import { everyProject, pruneInRounds } from '../../src/projects/projects.ts';

/** Removes what old sends said, and what providers answered. Safe to repeat: what is left is found again. */
export default task(z.unknown(), async (_payload, deps) => {
  const rounds = { projects: everyProject(deps), first: FIRST_ID, signal: deps.signal };
  const pruned = await pruneInRounds(deps, rounds, async (scope, after) =>
    pruneContent(scope, await findCutoffs(scope, deps.config.retentionMonths), after),
  );
  deps.log.info({ pruned }, 'content of old sends removed');
});
