import { z } from 'zod';
import * as automations from '../../src/automations/automations.ts';
import { inProject } from '../../src/base/db.ts';
import { giveHints } from '../../src/base/hints.ts';
import { sharedTask } from '../../src/base/task.ts';
import * as segments from '../../src/segments/segments.ts';

const Payload = z.strictObject({ project_id: z.uuid() });

/** Evaluates people for the segments of a project. Safe to run twice: what there is to do is in rows, under a lock. */
export default sharedTask(Payload, async ({ project_id: projectId }, deps) => {
  const afterPiece = () => automations.wakeReader(deps, projectId);
  const { signal } = deps;
  const isMore = await segments.refreshPeople(deps, projectId, { signal, afterPiece });
  const isFillDue = await inProject(deps, projectId, segments.isFillDue);
  await giveHints(deps, [
    ...(isMore ? [segments.refreshHint(projectId)] : []),
    ...(isFillDue ? [segments.fillHint(projectId)] : []),
  ]);
});
