import { z } from 'zod';
import * as automations from '../../src/automations/automations.ts';
import { inProject } from '../../src/base/db.ts';
import { hint } from '../../src/base/hints.ts';
import { sharedTask } from '../../src/base/task.ts';
import * as segments from '../../src/segments/segments.ts';

/** Brings a project's segments up to date. Safe to run twice: what there is to do is in rows, taken under a lock. */
export default sharedTask(
  z.strictObject({ project_id: z.uuid() }),
  async ({ project_id }, deps) => {
    const { signal } = deps;
    const afterTurn = async () => {
      if (await inProject(deps, project_id, automations.isBehindSegments))
        await hint(deps, automations.segmentEntriesHint(project_id));
    };
    const isMore = await segments.refreshProject(deps, project_id, { signal, afterTurn });
    if (isMore) await hint(deps, segments.refreshHint(project_id));
  },
);
