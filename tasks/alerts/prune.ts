import { z } from 'zod';
import { pruneAlerts } from '../../src/alerts/alerts.ts';
import { inProject } from '../../src/base/db.ts';
import { task } from '../../src/base/task.ts';
import { everyProject } from '../../src/projects/projects.ts';

/** Deletes resolved alerts that are too old, or too many. Safe to repeat: they are found again. */
export default task(z.unknown(), async (_payload, deps) => {
  let pruned = 0;
  for await (const projectId of everyProject(deps)) {
    if (deps.signal.aborted) break;
    pruned += await inProject(deps, projectId, pruneAlerts);
  }
  deps.log.info({ pruned }, 'alerts pruned');
});
