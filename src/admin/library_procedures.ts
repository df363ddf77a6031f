import { z } from 'zod';
import { inProject } from '../base/db.ts';
import { editorProcedure, projectProcedure, router } from '../base/procedure.ts';
import { refusing } from './folder/acts.ts';
import { adoptReady, listReady } from './library.ts';

export const libraryProcedures = router({
  /** The ready automations. */
  list: projectProcedure.query(() => ({ items: listReady() })),

  /** Puts one into the project as a draft, with its templates. */
  adopt: editorProcedure
    .input(z.object({ key: z.string().min(1).max(50), providerId: z.uuid() }))
    .mutation(({ ctx, input: { projectId, key, providerId } }) =>
      refusing(() =>
        inProject(ctx.deps, projectId, async (scope) => ({
          automation_id: await adoptReady(scope, key, providerId),
        })),
      ),
    ),
});
