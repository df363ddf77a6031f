import { z } from 'zod';
import * as automations from '../../src/automations/automations.ts';
import { attempt, inProject } from '../../src/base/db.ts';
import { giveHints } from '../../src/base/hints.ts';
import { task } from '../../src/base/task.ts';
import * as ingest from '../../src/ingest/ingest.ts';
import * as profiles from '../../src/profiles/profiles.ts';
import * as segments from '../../src/segments/segments.ts';

/** What happens to events after we answered 202. Safe to run twice: it takes what is noted and deletes the note. */
export default task(z.strictObject({ project_id: z.uuid() }), async ({ project_id }, deps) => {
  const { taken, advanced } = await inProject(deps, project_id, async (scope) => {
    const erasedBefore = await profiles.countErased(scope);
    const taken = await ingest.takeFlushes(scope, async (inner, flushIds) => {
      await profiles.seeEvents(inner, flushIds, erasedBefore);
      const started = await automations.startRuns(inner, flushIds);
      return { started, hints: await segments.countEvents(inner, flushIds) };
    });
    if (!taken.done.some(({ started }) => started > 0)) return { taken, advanced: null };
    return { taken, advanced: await attempt(scope, automations.advance, { mayTimeOut: true }) };
  });
  ingest.logFailed(deps, project_id, taken.failed);
  const own = advanced?.kind === 'done' ? advanced.value : { hints: [], isMore: advanced !== null };
  await giveHints(deps, [
    ...own.hints.concat(taken.done.flatMap(({ hints }) => hints)),
    // Also when runs could not be advanced: what was started stays, and that job says why.
    ...(own.isMore ? [automations.advanceHint(project_id)] : []),
    ...(taken.isMore ? [ingest.processHint(project_id)] : []),
  ]);
});
