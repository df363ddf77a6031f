import { z } from 'zod';
import { forgetAudit, forgetRequests } from '../../src/admin/audit_log.ts';
import { task } from '../../src/base/task.ts';
import { everyProject } from '../../src/projects/projects.ts';

/**
 * Forgets audit entries, access requests and invitations that are older than AUDIT_MONTHS. Safe to repeat: what is left
 * is found again.
 */
export default task(z.unknown(), async (_payload, deps) => {
  let forgotten = await forgetAudit(deps, null);
  for await (const projectId of everyProject(deps)) {
    if (deps.signal.aborted) break;
    forgotten += await forgetAudit(deps, projectId);
  }
  const requests = await forgetRequests(deps, deps.signal);
  deps.log.info({ forgotten }, 'audit entries forgotten');
  deps.log.info({ forgotten: requests }, 'access requests and invitations forgotten');
});
