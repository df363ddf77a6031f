import { z } from 'zod';
import { task } from '../../src/base/task.ts';
import * as ingest from '../../src/ingest/ingest.ts';
import { everyProject } from '../../src/projects/projects.ts';

/**
 * Ends the retention of whole months: first the message ids of their events, project by project, then the months.
 * Safe to repeat: a month goes last, so whatever was left undone is found again.
 */
export default task(z.unknown(), async (_payload, deps) => {
  const until = await ingest.findExpiredUntil(deps);
  if (until === null) return;
  for await (const projectId of everyProject(deps))
    await ingest.forgetMessageIds(deps, projectId, until, deps.signal);
  let dropped: string | null;
  while ((dropped = await ingest.dropMonth(deps.jobs, until, deps.signal)) !== null)
    deps.log.info({ dropped }, 'month dropped');
});
