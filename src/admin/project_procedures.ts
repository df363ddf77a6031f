import { z } from 'zod';
import { inProject } from '../base/db.ts';
import { newId } from '../base/ids.ts';
import { listInput, readCursor, toPage } from '../base/page.ts';
import { adminProcedure, ownerProcedure, personProcedure, router } from '../base/procedure.ts';
import { listProjects, makeProject, ProjectName, renameProject } from '../projects/projects.ts';
import { listProjectsOf } from './member_queries.ts';

export const projectProcedures = router({
  /** The projects that the person may work in, the newest first: all of them for an administrator. */
  list: personProcedure.input(listInput).query(async ({ ctx, input }) => {
    const beforeId = readCursor(z.tuple([z.uuid()]), input.cursor)?.[0] ?? null;
    const page = { limit: input.limit + 1, beforeId };
    const { person_id, is_admin } = ctx.person;
    const rows = is_admin
      ? (await listProjects(ctx.deps.db, page)).map((row) => ({ ...row, role: 'owner' as const }))
      : await listProjectsOf(ctx.deps.db, person_id, page);
    return toPage(rows, input.limit, {
      item: ({ project_id, name, role }) => ({ id: project_id, name, role }),
      position: (row) => [row.project_id],
    });
  }),

  /** A project without keys: whoever owns it makes them. */
  make: adminProcedure
    .input(z.strictObject({ name: ProjectName }))
    .mutation(({ ctx, input: { name } }) =>
      inProject(ctx.deps, newId(), async (scope) => {
        await makeProject(scope, name);
        return { id: scope.projectId, name };
      }),
    ),

  rename: ownerProcedure
    .input(z.object({ name: ProjectName }))
    .mutation(({ ctx, input: { projectId, name } }) =>
      inProject(ctx.deps, projectId, async (scope) => {
        await renameProject(scope, name);
        return { id: projectId, name };
      }),
    ),
});
