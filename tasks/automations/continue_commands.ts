import { z } from 'zod';
import * as automations from '../../src/automations/automations.ts';
import { inProject } from '../../src/base/db.ts';
import { giveHints } from '../../src/base/hints.ts';
import { backgroundTask } from '../../src/base/task.ts';

const Payload = z.strictObject({ project_id: z.uuid(), automation_id: z.uuid() });

/**
 * Continues the commands on an automation. Safe to repeat: what is done is not found again. A deleted automation is
 * shown nowhere, so the log says how far its deletion is.
 */
export default backgroundTask(Payload, async ({ project_id, automation_id }, deps) => {
  const { isMore, deleted } = await inProject(deps, project_id, (scope) =>
    automations.continueCommands(scope, automation_id),
  );
  if (deleted !== null)
    deps.log.info(
      { automation_id, deleted, is_more: isMore },
      'rows of a deleted automation deleted',
    );
  await giveHints(deps, [
    automations.advanceHint(project_id),
    ...(isMore ? [automations.commandHint(project_id, automation_id)] : []),
  ]);
});
