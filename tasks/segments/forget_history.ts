import { z } from 'zod';
import * as automations from '../../src/automations/automations.ts';
import { task } from '../../src/base/task.ts';
import { everyProject } from '../../src/projects/projects.ts';
import * as segments from '../../src/segments/segments.ts';

/** Forgets the history of segments from before timelines begin. Safe to repeat: what is left is found again. */
export default task(z.unknown(), async (_payload, deps) => {
  let forgotten = 0;
  for await (const projectId of everyProject(deps)) {
    if (deps.signal.aborted) break;
    const { listNeededEntries } = automations;
    forgotten += await segments.forgetHistory(deps, projectId, listNeededEntries, deps.signal);
  }
  deps.log.info({ forgotten }, 'history of segments forgotten');
});
