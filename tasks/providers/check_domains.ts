import { z } from 'zod';
import { task } from '../../src/base/task.ts';
import { everyProject } from '../../src/projects/projects.ts';
import { recheckDomains } from '../../src/providers/providers.ts';

/** Checks the domains of senders whose daily check is due. Safe to repeat: a check that is claimed is not due. */
export default task(z.unknown(), async (_payload, deps) => {
  const checked = await recheckDomains({ deps, signal: deps.signal }, everyProject(deps));
  deps.log.info({ checked }, 'domains of senders checked');
});
