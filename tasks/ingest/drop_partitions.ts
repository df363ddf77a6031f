import { z } from 'zod';
import { task } from '../../src/base/task.ts';
import * as ingest from '../../src/ingest/ingest.ts';
import * as projects from '../../src/projects/projects.ts';

const PROJECTS_PER_PAGE = 100;

/**
 * Ends the retention of whole months: first the message ids of their events, project by project, then the months.
 * Safe to repeat: a month goes last, so whatever was left undone is found again.
 */
export default task(z.unknown(), async (_payload, deps) => {
  const until = await ingest.findExpiredUntil(deps.db);
  if (until === null) return;
  for (let beforeId: string | null = null; ;) {
    const page = await projects.listProjects(deps.db, { limit: PROJECTS_PER_PAGE, beforeId });
    for (const { project_id } of page)
      await ingest.forgetMessageIds(deps, project_id, until, deps.signal);
    beforeId = page.at(-1)?.project_id ?? null;
    if (beforeId === null) break;
  }
  let dropped: string | null;
  while ((dropped = await ingest.dropMonth(deps.jobs, until, deps.signal)) !== null)
    deps.log.info({ dropped }, 'month dropped');
});
