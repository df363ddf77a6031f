import { z } from 'zod';
import { inProject } from '../base/db.ts';
import { listInput, readCursor, toPage } from '../base/page.ts';
import { projectProcedure, router } from '../base/procedure.ts';
import { listAutomations } from './automations.ts';

export const automationProcedures = router({
  /** The project's automations, the newest first. */
  list: projectProcedure.input(listInput).query(({ ctx, input }) =>
    inProject(ctx.deps, input.projectId, async (scope) => {
      const beforeId = readCursor(z.tuple([z.uuid()]), input.cursor)?.[0] ?? null;
      const rows = await listAutomations(scope, { limit: input.limit + 1, beforeId });
      return toPage(rows, input.limit, {
        item: ({ automation_id, created_at, ...row }) => ({
          id: automation_id,
          ...row,
          created_at: created_at.toISOString(),
        }),
        position: (row) => [row.automation_id],
      });
    }),
  ),
});
