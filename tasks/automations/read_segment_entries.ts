import { z } from 'zod';
import * as automations from '../../src/automations/automations.ts';
import { inProject } from '../../src/base/db.ts';
import { giveHints } from '../../src/base/hints.ts';
import { sharedTask } from '../../src/base/task.ts';

/** Reads who came into segments of a project, or went. Safe to run twice: how far it came is kept with what it did. */
export default sharedTask(
  z.strictObject({ project_id: z.uuid() }),
  async ({ project_id }, deps) => {
    const { started, isMore } = await inProject(deps, project_id, automations.readSegmentEntries);
    await giveHints(deps, [
      ...(started > 0 ? [automations.advanceHint(project_id)] : []),
      ...(isMore ? [automations.segmentEntriesHint(project_id)] : []),
    ]);
  },
);
