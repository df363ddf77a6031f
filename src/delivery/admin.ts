import { z } from 'zod';
import { inProject } from '../base/db.ts';
import { EMAIL_CHARS_MAX } from '../base/email_address.ts';
import { listInput } from '../base/page.ts';
import { projectProcedure, router } from '../base/procedure.ts';
import { pageSends, SHOWN_STATUSES } from './send_log.ts';

const Filter = z.object({
  status: z.enum(SHOWN_STATUSES).optional(),
  email: z.string().min(1).max(EMAIL_CHARS_MAX).optional(),
});

export const sendProcedures = router({
  /** The send log, newest first. */
  list: projectProcedure
    .input(Filter)
    .input(listInput)
    .query(({ ctx, input }) =>
      inProject(ctx.deps, input.projectId, (scope) => pageSends(scope, input)),
    ),
});
