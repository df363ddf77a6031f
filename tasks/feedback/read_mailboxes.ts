import { z } from 'zod';
import { task } from '../../src/base/task.ts';
import { readBounceMailboxes } from '../../src/feedback/feedback.ts';

/** Has the bounce mailboxes read that are due, beside the job. Safe to repeat: a mailbox that is claimed is not due. */
export default task(z.unknown(), async (_payload, deps) => {
  await readBounceMailboxes(deps, deps.jobs);
});
