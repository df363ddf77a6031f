import { z } from 'zod';
import { FIRST_ID } from '../../src/base/ids.ts';
import { task } from '../../src/base/task.ts';
import { forgetTopicChanges } from '../../src/feedback/feedback.ts';
import { everyProject, pruneInRounds } from '../../src/projects/projects.ts';

/** Forgets what became of Amazon SNS topics two years ago. Safe to repeat: what is left is found again. */
export default task(z.unknown(), async (_payload, deps) => {
  const rounds = { projects: everyProject(deps), first: FIRST_ID, signal: deps.signal };
  const pruned = await pruneInRounds(deps, rounds, forgetTopicChanges);
  deps.log.info({ pruned }, 'old changes of topics forgotten');
});
