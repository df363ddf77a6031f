import { z } from 'zod';
import { listInput, readCursor, toPage } from '../base/page.ts';
import { personProcedure, router } from '../base/procedure.ts';
import { listProjects } from './projects.ts';

const NONE = { items: [], next_cursor: null };

export const projectProcedures = router({
  /** The projects that the person may work in, the newest first: all of them for an administrator. */
  list: personProcedure.input(listInput).query(async ({ ctx, input }) => {
    if (!ctx.person.is_admin) return NONE;
    const beforeId = readCursor(z.tuple([z.uuid()]), input.cursor)?.[0] ?? null;
    const rows = await listProjects(ctx.deps.db, { limit: input.limit + 1, beforeId });
    return toPage(rows, input.limit, {
      item: ({ project_id, name }) => ({ id: project_id, name }),
      position: (row) => [row.project_id],
    });
  }),
});
