import { z } from 'zod';
import { inProject } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { watch } from '../base/feeds.ts';
import { newId } from '../base/ids.ts';
import { listInput } from '../base/page.ts';
import {
  editorProcedure,
  liveProcedure,
  projectProcedure,
  readingProcedure,
  router,
} from '../base/procedure.ts';
import { Refusal } from '../base/refusal.ts';
import * as profiles from '../profiles/profiles.ts';
import * as acts from './acts.ts';
import { todayAt } from './compile.ts';
import { listImportsInto } from './count_queries.ts';
import { readDays, withMembers } from './counted.ts';
import { findImport, PeopleImport } from './import_people.ts';
import { preview } from './preview.ts';
import { findSegment, listUnready } from './record_queries.ts';
import type { SegmentRow } from './record_queries.ts';
import { SEGMENTS_MAX } from './records.ts';
import type { ListUsers } from './records.ts';
import { NewSegment, PreviewInput, SegmentPatch } from './routes.ts';
import { toSegment } from './shown.ts';

const IMPORTS_SHOWN_MAX = 50;

const OfSegment = z.object({ segmentId: z.uuid() });

const get = async (scope: Scope, segmentId: string): Promise<SegmentRow> => {
  const row = await findSegment(scope, segmentId);
  if (!row) throw new Refusal('not_found', { detail: 'There is no such segment.' });
  return row;
};

/** With what each person is called; null of who is being erased. */
const withPeople = async <Item extends { profile_id: string }>(
  scope: Scope,
  items: readonly Item[],
) => {
  const people = await profiles.labelProfiles(
    scope,
    items.map(({ profile_id }) => profile_id),
  );
  return items.map((item) => ({ ...item, person: people.get(item.profile_id) ?? null }));
};

/** How far those have come whose members are not all known yet. */
const progress = {
  name: 'segments.progress',
  read: async (scope: Scope) => {
    const items = [];
    for (const row of await listUnready(scope, SEGMENTS_MAX)) {
      const { id, version, status, progress: made } = await toSegment(scope, row);
      items.push({ id, version, status, progress: made });
    }
    return { items };
  },
};

const listProcedures = {
  /** The project's segments, the newest first, each with how many are in it. */
  list: projectProcedure.input(listInput).query(({ ctx, input }) =>
    inProject(ctx.deps, input.projectId, async (scope) => {
      const page = await acts.pageRows(scope, input);
      return { ...page, items: await withMembers(scope, page.items) };
    }),
  ),

  read: projectProcedure.input(OfSegment).query(({ ctx, input }) =>
    inProject(ctx.deps, input.projectId, async (scope) => {
      const [shown] = await withMembers(scope, [await get(scope, input.segmentId)]);
      if (!shown) throw new Refusal('not_found');
      return shown;
    }),
  ),

  /** Which segments are being filled and how far, and again each time that it is further. */
  progress: liveProcedure.subscription(({ ctx, input: { projectId } }) =>
    watch(ctx.deps, { projectId, source: progress }, ctx.over),
  ),

  members: projectProcedure
    .input(OfSegment)
    .input(listInput)
    .query(({ ctx, input }) =>
      inProject(ctx.deps, input.projectId, async (scope) => {
        const page = await acts.pageMembers(scope, input.segmentId, input);
        return { ...page, items: await withPeople(scope, page.items) };
      }),
    ),

  /** Who entered and left, the last first. */
  history: projectProcedure
    .input(OfSegment)
    .input(listInput)
    .query(({ ctx, input }) =>
      inProject(ctx.deps, input.projectId, async (scope) => {
        const page = await acts.pageHistory(scope, input.segmentId, input);
        return { ...page, items: await withPeople(scope, page.items) };
      }),
    ),

  /** How many came and went on each of the last days. */
  days: projectProcedure
    .input(OfSegment)
    .query(({ ctx, input }) =>
      inProject(ctx.deps, input.projectId, (scope) => readDays(scope, input.segmentId)),
    ),

  explain: projectProcedure
    .input(OfSegment.extend({ profileId: z.uuid() }))
    .query(({ ctx, input }) =>
      inProject(ctx.deps, input.projectId, async (scope) =>
        acts.explainPerson(scope, await get(scope, input.segmentId), input.profileId),
      ),
    ),

  /** The last lists of people that were imported. */
  imports: projectProcedure.input(OfSegment).query(({ ctx, input }) =>
    inProject(ctx.deps, input.projectId, async (scope) => {
      const rows = await listImportsInto(scope, input.segmentId, IMPORTS_SHOWN_MAX);
      return {
        items: rows.map(({ imported_at, undone_at, ...row }) => ({
          ...row,
          imported_at: imported_at.toISOString(),
          undone_at: undone_at?.toISOString() ?? null,
        })),
      };
    }),
  ),
};

const changeProcedures = (listUsers: ListUsers) => ({
  /** Who would be in a segment. Keeps nothing. */
  preview: readingProcedure
    .input(z.object(PreviewInput.shape))
    .mutation(({ ctx, input: { projectId, definition } }) =>
      inProject(ctx.deps, projectId, async (scope) => {
        const { sample, ...counted } = await preview(scope, definition, todayAt(new Date()));
        const people = await withPeople(
          scope,
          sample.map((profile_id) => ({ profile_id })),
        );
        return { ...counted, sample: people };
      }),
    ),

  create: editorProcedure
    .input(z.object(NewSegment.shape))
    .mutation(({ ctx: { deps }, input: { projectId, name, definition = null } }) =>
      acts.addSegment({ deps, projectId }, { segmentId: newId(), name, definition }),
    ),

  /** What is left out stays; refused when there is a newer version than the one that was read. */
  change: editorProcedure
    .input(OfSegment.extend({ change: SegmentPatch }))
    .mutation(({ ctx: { deps }, input: { projectId, segmentId, change } }) =>
      acts.editSegment({ deps, projectId }, segmentId, change),
    ),

  remove: editorProcedure
    .input(OfSegment)
    .mutation(({ ctx: { deps }, input: { projectId, segmentId } }) =>
      acts.removeSegment({ deps, projectId }, segmentId, listUsers),
    ),

  import: editorProcedure
    .input(OfSegment.extend({ people: PeopleImport }))
    .mutation(async ({ ctx: { deps }, input: { projectId, segmentId, people } }) => {
      const row = await inProject(deps, projectId, (scope) => get(scope, segmentId));
      return acts.importInto({ deps, projectId }, row, { importId: newId(), people });
    }),

  /** Takes an import back. */
  undoImport: editorProcedure
    .input(z.object({ importId: z.uuid() }))
    .mutation(async ({ ctx: { deps }, input: { projectId, importId } }) => {
      const found = await inProject(deps, projectId, (scope) => findImport(scope, importId));
      if (!found) throw new Refusal('not_found', { detail: 'There is no such import.' });
      return acts.takeBack({ deps, projectId }, importId);
    }),
});

/** Who else asks about a segment is for rooms above this one to say. */
export const segmentProcedures = (listUsers: ListUsers) =>
  router({ ...listProcedures, ...changeProcedures(listUsers) });
