import { z } from 'zod';
import { findCountedSince, listUnfinished } from '../../src/automations/automations.ts';
import { FIRST_ID } from '../../src/base/ids.ts';
import { task } from '../../src/base/task.ts';
import { findCutoffs, pruneSends } from '../../src/delivery/delivery.ts';
import { pruneNotices } from '../../src/feedback/feedback.ts';
import { everyProject, pruneInRounds } from '../../src/projects/projects.ts';

/**
 * Deletes old feedback events, then old sends: a soft bounce must not outlive the acceptance that came between it and
 * the next one. Frequency caps count email of up to a year. Safe to repeat: what is left is found again.
 */
export default task(z.unknown(), async (_payload, deps) => {
  const { retentionMonths } = deps.config;
  const rounds = (first: string) => ({ projects: everyProject(deps), first, signal: deps.signal });
  const notices = await pruneInRounds(deps, rounds(''), async (scope, after) =>
    pruneNotices(scope, (await findCutoffs(scope, retentionMonths)).sends, after),
  );
  const sends = await pruneInRounds(deps, rounds(FIRST_ID), async (scope, after) => {
    const { sends: beginning } = await findCutoffs(scope, retentionMonths);
    const countedSince = (await findCountedSince(scope)) ?? beginning;
    const before = countedSince < beginning ? countedSince : beginning;
    return pruneSends(scope, { before, listUnfinished }, after);
  });
  deps.log.info({ pruned: notices }, 'old feedback events pruned');
  deps.log.info({ pruned: sends }, 'old sends pruned');
});
