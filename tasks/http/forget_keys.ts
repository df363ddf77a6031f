import { z } from 'zod';
import { forgetOldKeys } from '../../src/base/idempotency.ts';
import { task } from '../../src/base/task.ts';
import { everyProject } from '../../src/projects/projects.ts';

/** Forgets Idempotency-Keys that are a day old. Safe to repeat: an old key counts for nothing, there or not. */
export default task(z.unknown(), async (_payload, deps) => {
  let forgotten = 0;
  for await (const projectId of everyProject(deps)) {
    if (deps.signal.aborted) break;
    forgotten += await forgetOldKeys(deps, projectId);
  }
  deps.log.info({ forgotten }, 'idempotency keys forgotten');
});
