import { z } from 'zod';
import * as automations from '../../src/automations/automations.ts';
import { inProject } from '../../src/base/db.ts';
import { giveHints } from '../../src/base/hints.ts';
import { task } from '../../src/base/task.ts';
import * as ingest from '../../src/ingest/ingest.ts';
import * as profiles from '../../src/profiles/profiles.ts';

/** What happens to events after we answered 202. Safe to run twice: it takes what is noted and deletes the note. */
export default task(z.strictObject({ project_id: z.uuid() }), async ({ project_id }, deps) => {
  const work = await inProject(deps, project_id, async (scope) => {
    const erasedBefore = await profiles.countErased(scope);
    const flushIds = await ingest.claim(scope);
    await profiles.seeEvents(scope, flushIds, erasedBefore);
    const started = await automations.startRuns(scope, flushIds);
    const advanced = started > 0 ? await automations.advance(scope) : { hints: [], isMore: false };
    await ingest.deleteFlushes(scope, flushIds);
    return { ...advanced, isMoreToClaim: flushIds.length === ingest.CLAIM_FLUSHES_MAX };
  });
  await giveHints(deps, [
    ...work.hints,
    ...(work.isMore ? [automations.advanceHint(project_id)] : []),
    ...(work.isMoreToClaim ? [ingest.processHint(project_id)] : []),
  ]);
});
