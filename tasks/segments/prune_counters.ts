import { z } from 'zod';
import { FIRST_ID } from '../../src/base/ids.ts';
import { task } from '../../src/base/task.ts';
import { everyProject, pruneInRounds } from '../../src/projects/projects.ts';
import { pruneCounters } from '../../src/segments/segments.ts';

/** Deletes counters of days that no window reaches. Safe to repeat: what is left is found again. */
export default task(z.unknown(), async (_payload, deps) => {
  const rounds = { projects: everyProject(deps), first: FIRST_ID, signal: deps.signal };
  const pruned = await pruneInRounds(deps, rounds, pruneCounters);
  deps.log.info({ pruned }, 'old counters pruned');
});
