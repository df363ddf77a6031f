import { z } from 'zod';
import * as automations from '../../src/automations/automations.ts';
import { inProject } from '../../src/base/db.ts';
import { giveHints } from '../../src/base/hints.ts';
import { task } from '../../src/base/task.ts';

/** Queues a project's alerts for endpoints. Safe to repeat: what is queued is deleted from what has to be announced. */
export default task(z.strictObject({ project_id: z.uuid() }), async ({ project_id }, deps) => {
  const { hints, isMore } = await inProject(deps, project_id, automations.announceAlerts);
  await giveHints(deps, [...hints, ...(isMore ? [automations.announceHint(project_id)] : [])]);
});
