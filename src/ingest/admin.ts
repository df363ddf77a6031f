import { z } from 'zod';
import { inProject } from '../base/db.ts';
import { listInput, readCursor, toPage } from '../base/page.ts';
import { projectProcedure, router } from '../base/procedure.ts';
import { toEntry } from './entry.ts';
import { listNewest } from './queries.ts';

export const eventProcedures = router({
  /** The project's events, the last to arrive first. */
  list: projectProcedure.input(listInput).query(({ ctx, input }) =>
    inProject(ctx.deps, input.projectId, async (scope) => {
      const beforeId = readCursor(z.tuple([z.uuid()]), input.cursor)?.[0] ?? null;
      const rows = await listNewest(scope, { limit: input.limit + 1, beforeId });
      return toPage(rows, input.limit, { item: toEntry, position: (row) => [row.event_id] });
    }),
  ),
});
