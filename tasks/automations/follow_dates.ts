import { z } from 'zod';
import * as automations from '../../src/automations/automations.ts';
import { inProject } from '../../src/base/db.ts';
import { giveHints } from '../../src/base/hints.ts';
import { sharedTask } from '../../src/base/task.ts';

/** Wakes runs whose dates moved. Safe to repeat: it takes the notes of changes with what it wakes. */
export default sharedTask(
  z.strictObject({ project_id: z.uuid() }),
  async ({ project_id }, deps) => {
    const { woken, isMore } = await inProject(deps, project_id, automations.followDates);
    await giveHints(deps, [
      ...(woken > 0 ? [automations.advanceHint(project_id)] : []),
      ...(isMore ? [automations.datesHint(project_id)] : []),
    ]);
  },
);
