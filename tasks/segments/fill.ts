import { z } from 'zod';
import * as automations from '../../src/automations/automations.ts';
import { hint } from '../../src/base/hints.ts';
import { backgroundTask } from '../../src/base/task.ts';
import * as segments from '../../src/segments/segments.ts';

const Payload = z.strictObject({ project_id: z.uuid() });

/** Fills and deletes segments of a project. Safe to run twice: it goes on from marks in rows, under a lock. */
export default backgroundTask(Payload, async ({ project_id: projectId }, deps) => {
  const afterPiece = () => automations.wakeReader(deps, projectId);
  const { signal } = deps;
  const isMore = await segments.fillSegments(deps, projectId, { signal, afterPiece });
  if (isMore) await hint(deps, segments.fillHint(projectId));
});
