import { inProject } from '../base/db.ts';
import { listInput } from '../base/page.ts';
import { projectProcedure, router } from '../base/procedure.ts';
import { pageSuppressions } from './listing.ts';

export const suppressionProcedures = router({
  /** Suppressed addresses, newest first. */
  list: projectProcedure
    .input(listInput)
    .query(({ ctx, input }) =>
      inProject(ctx.deps, input.projectId, (scope) => pageSuppressions(scope, input)),
    ),
});
