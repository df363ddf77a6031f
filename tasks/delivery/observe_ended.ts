import { z } from 'zod';
import { inProject } from '../../src/base/db.ts';
import { hint } from '../../src/base/hints.ts';
import { sharedTask } from '../../src/base/task.ts';
import * as delivery from '../../src/delivery/delivery.ts';
import * as ingest from '../../src/ingest/ingest.ts';

/** What hand-offs have ended comes onto timelines. Safe to run twice: it takes notes and deletes them with it. */
export default sharedTask(
  z.strictObject({ project_id: z.uuid() }),
  async ({ project_id }, deps) => {
    const { observed, isMore, failed } = await inProject(deps, project_id, (scope) =>
      delivery.observeHandOffs(scope),
    );
    for (const { sendId: send_id, failureCount: failure_count, error: err } of failed)
      deps.log[failure_count === 1 ? 'error' : 'warn'](
        { err, project_id, send_id, failure_count },
        'what became of a send cannot be put on a timeline; it is tried again',
      );
    if (observed > 0) ingest.wake(deps, project_id);
    if (isMore) await hint(deps, delivery.observeHint(project_id));
  },
);
