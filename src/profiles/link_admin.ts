import { z } from 'zod';
import { inProject } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { firstIdAt } from '../base/ids.ts';
import { listInput, readCursor, toPage } from '../base/page.ts';
import type { PageQuery } from '../base/page.ts';
import { editorProcedure, projectProcedure, router } from '../base/procedure.ts';
import { Refusal } from '../base/refusal.ts';
import { isStorable, NOT_STORABLE } from '../base/text.ts';
import * as identity from '../identity/identity.ts';
import type { LinkRow } from '../identity/identity.ts';
import { toLink } from './link.ts';
import type { OnLinked } from './link.ts';
import { listSides, undo } from './undo.ts';
import { previewUndo } from './undo_preview.ts';
import type { ListRuns } from './undo_preview.ts';

const IDENTIFIER_CHARS_MAX = 255;

const Filter = z.object({
  identifier: z
    .string()
    .trim()
    .min(1)
    .max(IDENTIFIER_CHARS_MAX)
    .refine(isStorable, NOT_STORABLE)
    .optional(),
  status: z.enum(identity.LINK_STATUSES).optional(),
  source: z.enum(identity.LINK_SOURCES).optional(),
  profileId: z.uuid().optional(),
  from: z.iso.datetime().optional(),
  until: z.iso.datetime().optional(),
});
type Filter = z.output<typeof Filter>;

const OfLink = z.object({ linkId: z.uuid() });

const findIdentities = async (scope: Scope, value: string | undefined) => {
  if (value === undefined) return null;
  const wanted = identity.IDENTIFIER_KINDS.map((kind) => ({ kind, value }));
  return (await identity.listByValues(scope, wanted)).map(({ identity_id }) => identity_id);
};

/** The earlier of two places in a list that is read from its end. */
const firstOf = (ids: readonly (string | null)[]): string | null =>
  ids.filter((id) => id !== null).toSorted()[0] ?? null;

const pageLinks = async (
  scope: Scope,
  { limit, cursor, from, until, ...filter }: Filter & PageQuery,
) => {
  const rows = await identity.listLinks(scope, {
    limit: limit + 1,
    beforeId: firstOf([
      readCursor(z.tuple([z.uuid()]), cursor)?.[0] ?? null,
      until === undefined ? null : firstIdAt(new Date(until)),
    ]),
    fromId: from === undefined ? null : firstIdAt(new Date(from)),
    profileId: filter.profileId ?? null,
    status: filter.status ?? null,
    source: filter.source ?? null,
    identityIds: await findIdentities(scope, filter.identifier),
  });
  return toPage(rows, limit, { item: toLink, position: (row) => [row.link_id] });
};

const missing = () => new Refusal('not_found', { detail: 'There is no such link.' });

const getLink = async (scope: Scope, linkId: string): Promise<LinkRow> => {
  const row = await identity.findLink(scope, linkId);
  if (!row) throw missing();
  return row;
};

/** The log of identity links, what an undo would change, and the undo. Modules above this one know the runs. */
export const linkProcedures = (onLinked: OnLinked, listRuns: ListRuns) =>
  router({
    /** Links, the newest first. */
    list: projectProcedure
      .input(Filter)
      .input(listInput)
      .query(({ ctx, input }) =>
        inProject(ctx.deps, input.projectId, (scope) => pageLinks(scope, input)),
      ),

    /** A link, and who is on either side of it by now. */
    read: projectProcedure.input(OfLink).query(({ ctx, input }) =>
      inProject(ctx.deps, input.projectId, async (scope) => {
        const row = await getLink(scope, input.linkId);
        return { link: toLink(row), profiles: (await listSides(scope, row)).flat() };
      }),
    ),

    /** What undoing a link would change. */
    preview: projectProcedure
      .input(OfLink)
      .query(({ ctx, input }) =>
        inProject(ctx.deps, input.projectId, async (scope) =>
          previewUndo(scope, await getLink(scope, input.linkId), listRuns),
        ),
      ),

    /** Undoes a link; doing so twice answers the same. */
    undo: editorProcedure.input(OfLink).mutation(async ({ ctx, input }) => {
      const undone = await undo(ctx.deps, { ...input, by: 'console', onLinked });
      if (!undone) throw missing();
      return undone;
    }),
  });
