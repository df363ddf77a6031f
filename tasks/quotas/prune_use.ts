import { z } from 'zod';
import { task } from '../../src/base/task.ts';
import { everyProject } from '../../src/projects/projects.ts';
import { pruneUse } from '../../src/quotas/quotas.ts';

/** Deletes what publishable keys used on days long past. Safe to repeat: an old day counts for nothing. */
export default task(z.unknown(), async (_payload, deps) => {
  let pruned = 0;
  for await (const projectId of everyProject(deps)) {
    if (deps.signal.aborted) break;
    pruned += await pruneUse(deps, projectId);
  }
  deps.log.info({ pruned }, 'use of publishable keys pruned');
});
