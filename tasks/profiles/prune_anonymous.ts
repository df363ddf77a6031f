import { z } from 'zod';
import * as automations from '../../src/automations/automations.ts';
import { FIRST_ID } from '../../src/base/ids.ts';
import { task } from '../../src/base/task.ts';
import * as delivery from '../../src/delivery/delivery.ts';
import * as ingest from '../../src/ingest/ingest.ts';
import { pruneAnonymous } from '../../src/profiles/profiles.ts';
import { everyProject, pruneInRounds } from '../../src/projects/projects.ts';
import * as segments from '../../src/segments/segments.ts';

const NEEDS = [
  ingest.listWithEvents,
  segments.listWithImports,
  automations.listWithRuns,
  delivery.listWithSends,
];

/** Deletes anonymous people without events. Safe to repeat: the next job finds what is left. */
export default task(z.unknown(), async (_payload, deps) => {
  const rounds = { projects: everyProject(deps), first: FIRST_ID, signal: deps.signal };
  const pruned = await pruneInRounds(deps, rounds, async (scope, after) => {
    const { anonymous: before } = await delivery.findCutoffs(scope, deps.config.retentionMonths);
    const removals = [automations.forgetPeople];
    return pruneAnonymous(scope, { before, needs: NEEDS, removals }, after);
  });
  deps.log.info({ pruned }, 'anonymous people pruned');
});
