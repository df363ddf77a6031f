import { z } from 'zod';
import { task } from '../../src/base/task.ts';
import { forgetPosts } from '../../src/feedback/feedback.ts';
import { everyProject } from '../../src/projects/projects.ts';

/** Forgets signed posts that are refused for their age by now. Safe to repeat: there or not, they count for nothing. */
export default task(z.unknown(), async (_payload, deps) => {
  let forgotten = 0;
  for await (const projectId of everyProject(deps)) {
    if (deps.signal.aborted) break;
    forgotten += await forgetPosts(deps, projectId);
  }
  deps.log.info({ forgotten }, 'signed posts forgotten');
});
