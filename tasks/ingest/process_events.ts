import { z } from 'zod';
import * as automations from '../../src/automations/automations.ts';
import { inProject } from '../../src/base/db.ts';
import { giveHints } from '../../src/base/hints.ts';
import { task } from '../../src/base/task.ts';
import * as ingest from '../../src/ingest/ingest.ts';
import * as profiles from '../../src/profiles/profiles.ts';
import * as quotas from '../../src/quotas/quotas.ts';
import * as segments from '../../src/segments/segments.ts';

/** What happens to events after we answered 202. Safe to run twice: it takes what is noted and deletes the note. */
export default task(z.strictObject({ project_id: z.uuid() }), async ({ project_id }, deps) => {
  const { taken, advanced } = await inProject(deps, project_id, async (scope) => {
    const erasedBefore = await profiles.countErased(scope);
    const taken = await ingest.takeFlushes(scope, async (inner, flushIds) => {
      const brought = await profiles.seeEvents(inner, flushIds, erasedBefore);
      const { started, hints } = await automations.startRuns(inner, flushIds);
      return { started, brought, hints: hints.concat(await segments.countEvents(inner, flushIds)) };
    });
    const advanced = await automations.advanceStarted(scope, taken.done);
    await quotas.countBrought(scope, taken.done);
    return { taken, advanced };
  });
  ingest.logFailed(deps, project_id, taken.failed);
  await giveHints(deps, [
    ...advanced.hints.concat(taken.done.flatMap(({ hints }) => hints)),
    ...(advanced.isMore ? [automations.advanceHint(project_id)] : []),
    ...(taken.isMore ? [ingest.processHint(project_id)] : []),
  ]);
});
