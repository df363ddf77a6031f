import { z } from 'zod';
import { inProject } from '../base/db.ts';
import { newId } from '../base/ids.ts';
import { listInput, readCursor, toPage } from '../base/page.ts';
import { editorProcedure, projectProcedure, readingProcedure, router } from '../base/procedure.ts';
import { Refusal } from '../base/refusal.ts';
import {
  activateNow,
  changeLife,
  deleteNow,
  moveEverybody,
  pageById,
  resumeNow,
  showAutomation,
} from './acts.ts';
import { checkDefinition } from './checked.ts';
import { listVersionsOf } from './count_queries.ts';
import { listEndpoints } from './endpoint_queries.ts';
import { toListedEndpoint } from './endpoint_shown.ts';
import { addVersion, archive, create, pause, rename } from './life.ts';
import type { LiveDoors } from './public_links.ts';
import { countInsideUpTo, PEOPLE_AT_STEP_MAX } from './life_queries.ts';
import { getNamed, OfAutomation } from './named.ts';
import { toCounted } from './overview.ts';
import { listWithLocalLinks } from './public_links.ts';
import { findVersion, listKept } from './queries.ts';
import { runProcedures } from './run_procedures.ts';
import { Activate, NewAutomation, NewVersion, Rename } from './shown.ts';

export { endpointProcedures } from './endpoint_procedures.ts';

const OfVersion = OfAutomation.extend({ version: z.int().min(1) });

const readProcedures = {
  /** The project's automations, the newest first: what starts each, and what came of it. */
  list: projectProcedure.input(listInput).query(({ ctx, input }) =>
    inProject(ctx.deps, input.projectId, async (scope) => {
      const page = await pageById(input, (asked) => listKept(scope, asked), {
        item: (row) => row,
        id: ({ automation_id }) => automation_id,
      });
      return { ...page, items: await toCounted(scope, page.items) };
    }),
  ),

  /** One automation in its latest version, and how many people are at which step of which version. */
  read: projectProcedure.input(OfAutomation).query(({ ctx, input }) =>
    inProject(ctx.deps, input.projectId, async (scope) => {
      const kept = await getNamed(scope, input.automationId);
      const inside = await countInsideUpTo(scope, kept.automation_id, PEOPLE_AT_STEP_MAX);
      return { ...(await showAutomation(scope, kept)), inside: [...inside] };
    }),
  ),

  versions: projectProcedure
    .input(OfAutomation)
    .input(listInput)
    .query(({ ctx, input: { projectId, automationId, limit, cursor } }) =>
      inProject(ctx.deps, projectId, async (scope) => {
        const position = readCursor(z.tuple([z.string().regex(/^\d{1,9}$/)]), cursor);
        const before = position ? Number(position[0]) : null;
        await getNamed(scope, automationId);
        const rows = await listVersionsOf(scope, automationId, { limit: limit + 1, before });
        return toPage(rows, limit, {
          item: (row) => ({ ...row, created_at: row.created_at.toISOString() }),
          position: ({ version }) => [String(version)],
        });
      }),
    ),

  version: projectProcedure.input(OfVersion).query(({ ctx, input }) =>
    inProject(ctx.deps, input.projectId, async (scope) => {
      await getNamed(scope, input.automationId);
      const definition = await findVersion(scope, input.automationId, input.version);
      if (!definition) throw new Refusal('not_found', { detail: 'There is no such version.' });
      return { version: input.version, definition };
    }),
  ),

  /** Whom webhook steps may tell. */
  endpoints: projectProcedure.input(listInput).query(({ ctx, input }) =>
    inProject(ctx.deps, input.projectId, (scope) =>
      pageById(input, (page) => listEndpoints(scope, page), {
        item: toListedEndpoint,
        id: ({ endpoint_id }) => endpoint_id,
      }),
    ),
  ),
};

const writeProcedures = (doors: LiveDoors) => ({
  /** Whatever a definition would be refused for, and what only its activation would be. Keeps nothing. */
  check: readingProcedure
    .input(z.object({ definition: z.unknown() }))
    .mutation(({ ctx, input: { projectId, definition } }) =>
      inProject(ctx.deps, projectId, (scope) =>
        checkDefinition(scope, definition, { doors, site: ctx.deps.config }),
      ),
    ),

  /** Active automations whose unsubscribe links readers cannot open, because PUBLIC_URL is gone or leads here. */
  withLocalLinks: projectProcedure.query(({ ctx: { deps }, input: { projectId } }) =>
    inProject(deps, projectId, async (scope) => ({
      items: await listWithLocalLinks(scope, { doors, site: deps.config }),
    })),
  ),

  create: editorProcedure
    .input(z.object(NewAutomation.shape))
    .mutation(({ ctx, input: { projectId, name, definition } }) =>
      inProject(ctx.deps, projectId, async (scope) =>
        showAutomation(
          scope,
          await create(scope, { automationId: newId(), name, definition }, doors),
        ),
      ),
    ),

  /** Makes the next version; refused when there is a newer one than the one that was seen. */
  save: editorProcedure
    .input(OfAutomation.extend(NewVersion.shape))
    .mutation(({ ctx, input: { projectId, automationId, definition, after_version: after } }) =>
      inProject(ctx.deps, projectId, async (scope) => {
        await getNamed(scope, automationId);
        return showAutomation(
          scope,
          await addVersion(scope, automationId, { definition, after }, doors),
        );
      }),
    ),

  activate: editorProcedure
    .input(OfAutomation.extend(Activate.shape))
    .mutation(({ ctx: { deps }, input: { projectId, automationId, version = null } }) =>
      activateNow({ deps, projectId }, { automationId, version }, doors),
    ),
});

const lifeProcedures = (doors: LiveDoors) => ({
  rename: editorProcedure
    .input(OfAutomation.extend(Rename.shape))
    .mutation(({ ctx, input: { projectId, automationId, name } }) =>
      inProject(ctx.deps, projectId, async (scope) =>
        showAutomation(scope, await rename(scope, automationId, name)),
      ),
    ),

  pause: editorProcedure
    .input(OfAutomation)
    .mutation(({ ctx: { deps }, input: { projectId, automationId } }) =>
      changeLife({ deps, projectId }, (scope) => pause(scope, automationId)),
    ),

  resume: editorProcedure
    .input(OfAutomation)
    .mutation(({ ctx: { deps }, input: { projectId, automationId } }) =>
      resumeNow({ deps, projectId }, automationId, doors),
    ),

  archive: editorProcedure
    .input(OfAutomation)
    .mutation(({ ctx: { deps }, input: { projectId, automationId } }) =>
      changeLife({ deps, projectId }, (scope) => archive(scope, automationId)),
    ),

  /** Deletes it, with its versions, its runs and what was decided in them. Sends and timelines stay. */
  delete: editorProcedure
    .input(OfAutomation)
    .mutation(({ ctx: { deps }, input: { projectId, automationId } }) =>
      deleteNow({ deps, projectId }, automationId),
    ),

  /** Moves everybody inside to the active version, at the step where they are. */
  move: editorProcedure
    .input(OfAutomation)
    .mutation(({ ctx: { deps }, input: { projectId, automationId } }) =>
      moveEverybody({ deps, projectId }, automationId),
    ),
});

/** `doors` are what this room has to ask of rooms that it does not know. */
export const automationProcedures = (doors: LiveDoors) =>
  router({
    ...readProcedures,
    ...writeProcedures(doors),
    ...lifeProcedures(doors),
    ...runProcedures,
  });
