import { z } from 'zod';
import * as automations from '../../src/automations/automations.ts';
import { attempt, inProject } from '../../src/base/db.ts';
import { giveHints } from '../../src/base/hints.ts';
import { task } from '../../src/base/task.ts';
import * as ingest from '../../src/ingest/ingest.ts';
import * as profiles from '../../src/profiles/profiles.ts';

/** What happens to events after we answered 202. Safe to run twice: it takes what is noted and deletes the note. */
export default task(z.strictObject({ project_id: z.uuid() }), async ({ project_id }, deps) => {
  const { taken, advanced } = await inProject(deps, project_id, async (scope) => {
    const erasedBefore = await profiles.countErased(scope);
    const taken = await ingest.takeFlushes(scope, async (inner, flushIds) => {
      await profiles.seeEvents(inner, flushIds, erasedBefore);
      return automations.startRuns(inner, flushIds);
    });
    const isStarted = taken.done.some((started) => started > 0);
    const advance = () => attempt(scope, automations.advance, { mayTimeOut: true });
    return { taken, advanced: isStarted ? await advance() : null };
  });
  ingest.logFailed(deps, project_id, taken.failed);
  const { hints, isMore } =
    advanced?.kind === 'done' ? advanced.value : { hints: [], isMore: advanced !== null };
  await giveHints(deps, [
    ...hints,
    // Also when runs could not be advanced: what was started stays, and that job says why.
    ...(isMore ? [automations.advanceHint(project_id)] : []),
    ...(taken.isMore ? [ingest.processHint(project_id)] : []),
  ]);
});
