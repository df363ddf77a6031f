import { z } from 'zod';
import * as automations from '../../src/automations/automations.ts';
import { inProject } from '../../src/base/db.ts';
import { giveHints } from '../../src/base/hints.ts';
import { sharedTask } from '../../src/base/task.ts';

/** Notes the start of an occurrence that is due. Safe to repeat: the schedule moves on with the start. */
export default sharedTask(
  z.strictObject({ project_id: z.uuid() }),
  async ({ project_id }, deps) => {
    const { startId, isMore } = await inProject(deps, project_id, automations.startScheduled);
    await giveHints(deps, [
      ...(startId === null ? [] : [automations.segmentStartHint(project_id, startId)]),
      ...(isMore ? [automations.schedulesHint(project_id)] : []),
    ]);
  },
);
