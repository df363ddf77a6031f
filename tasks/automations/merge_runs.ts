import { z } from 'zod';
import * as automations from '../../src/automations/automations.ts';
import { inProject } from '../../src/base/db.ts';
import { giveHints } from '../../src/base/hints.ts';
import { sharedTask } from '../../src/base/task.ts';

const Payload = z.strictObject({ project_id: z.uuid(), profile_id: z.uuid() });

/** Compares the runs of a person after a link or an undo. Safe to repeat: how far it is is kept with what it did. */
export default sharedTask(Payload, async ({ project_id, profile_id }, deps) => {
  const { isMore } = await inProject(deps, project_id, (scope) =>
    automations.settleMerges(scope, profile_id),
  );
  await giveHints(deps, [
    isMore ? automations.mergeHint(project_id, profile_id) : automations.advanceHint(project_id),
  ]);
});
