import { z } from 'zod';
import * as automations from '../../src/automations/automations.ts';
import { inProject } from '../../src/base/db.ts';
import { giveHints } from '../../src/base/hints.ts';
import { backgroundTask } from '../../src/base/task.ts';

const Payload = z.strictObject({ project_id: z.uuid(), start_id: z.uuid() });

/** Starts the next people of a segment. Safe to run twice: how far it came is kept with whom it started. */
export default backgroundTask(Payload, async ({ project_id, start_id }, deps) => {
  const { started, isMore } = await inProject(deps, project_id, (scope) =>
    automations.startNextPeople(scope, start_id),
  );
  await giveHints(deps, [
    ...(started > 0 ? [automations.advanceHint(project_id)] : []),
    ...(isMore ? [automations.segmentStartHint(project_id, start_id)] : []),
  ]);
});
