import { z } from 'zod';
import * as automations from '../../src/automations/automations.ts';
import { inProject } from '../../src/base/db.ts';
import { giveHints } from '../../src/base/hints.ts';
import { sharedTask } from '../../src/base/task.ts';

/** Walks the runs of a project that are due. Safe to run twice: a run is walked under its row's lock, from its step. */
export default sharedTask(
  z.strictObject({ project_id: z.uuid() }),
  async ({ project_id }, deps) => {
    const { hints, isMore } = await inProject(deps, project_id, (scope) =>
      automations.advance(scope),
    );
    await giveHints(deps, isMore ? [...hints, automations.advanceHint(project_id)] : hints);
  },
);
