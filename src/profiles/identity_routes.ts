import { z } from 'zod';
import { inProject } from '../base/db.ts';
import { pageOf, pageQuery, readCursor, toPage } from '../base/page.ts';
import { Refusal } from '../base/refusal.ts';
import { NothingNeeded, route } from '../base/route.ts';
import type { Addressed } from '../base/route.ts';
import * as identity from '../identity/identity.ts';
import type { LinkRow } from '../identity/identity.ts';
import { alias, identify } from './identify.ts';
import { toLink } from './link.ts';
import type { OnLinked } from './link.ts';
import { AliasInput, IdentifyInput, Link, LINK_STATUSES, Profile, workOf } from './schema.ts';
import { LINKED_SHOWN, UNDONE_SHOWN } from './shown.ts';
import { findRestored, listSides, undo } from './undo.ts';
import { previewUndo, UndoPreview } from './undo_preview.ts';
import type { ListRuns } from './undo_preview.ts';

const LinkQuery = z.strictObject({
  ...pageQuery,
  profile_id: z.uuid().optional().meta({ description: 'Only links of this profile.' }),
  status: z.enum(LINK_STATUSES).optional().meta({ description: 'Only links that stand so now.' }),
});
const LinkParams = z.object({ id: z.uuid().meta({ description: "The link's id." }) });

const findLink = ({ deps, caller, params }: Addressed): Promise<LinkRow | null> => {
  const named = LinkParams.safeParse(params);
  if (!named.success) return Promise.resolve(null);
  return inProject(deps, caller.projectId, (scope) => identity.findLink(scope, named.data.id));
};

const Linked = z.strictObject({ link: Link });
const Undone = z.strictObject({
  link: Link,
  restored: Link.nullable().meta({
    description: "The browser's link that this one had replaced, if it is active again.",
  }),
  profiles: z.array(Profile),
});

/** A link that was answered before, and its people; null once one of them is erased, or is being. */
const findAgain = ({ deps, caller }: Addressed, linkId: string) =>
  inProject(deps, caller.projectId, async (scope) => {
    const row = await identity.findLink(scope, linkId);
    const sides = row ? await listSides(scope, row) : [];
    const isWhole = sides.every(({ length }) => length > 0);
    if (!row || !isWhole) return null;
    const restored = await findRestored(scope, row);
    return { link: toLink(row), restored, profiles: sides.flat() };
  });

const linkingRoutes = (onLinked: OnLinked) => [
  route({
    method: 'POST',
    path: '/v1/identify',
    access: 'publishable',
    summary: 'Identify a person and store their traits.',
    description:
      'Everything that `anonymous_id` did becomes part of the person. A server key replaces a link that only a ' +
      'browser vouches for: the log shows the older link as undone, and undoing the newer one restores it. Any other ' +
      'link to another person stays, and so do limits of publishable keys: the log shows the new link as refused. ' +
      'The answer is always the same, because a publishable key learns nothing about a person. It is the same while ' +
      'one of the two is being erased, when nothing is linked and nothing stored.',
    refusals: ['occurred_at_out_of_range', 'too_many_traits', 'quota_exceeded'],
    body: IdentifyInput,
    workOf: (identify) => [workOf(identify)],
    status: 202,
    answer: z.strictObject({ accepted: z.literal(1) }).meta({ id: 'Identified' }),
    handle: async ({ deps, caller, body, repetitionId }) => {
      const repetition = repetitionId === undefined ? undefined : { repetitionId, at: 0 };
      await identify(deps, caller, body, { repetition, onLinked });
      return { accepted: 1 };
    },
  }),
  route({
    method: 'POST',
    path: '/v1/identify/alias',
    access: 'server',
    summary: 'Link an anonymous id to a known person.',
    description:
      'Repeating the call returns the same link. Replaces a link that only a browser vouches for. A link that a ' +
      'server made or confirmed stays: 409 `identity_conflict`.',
    refusals: ['identity_conflict', 'being_erased', 'not_found'],
    body: AliasInput,
    workOf: (alias) => [workOf(alias)],
    status: 200,
    answer: Linked,
    example: LINKED_SHOWN,
    again: {
      idIn: (answer) => Linked.parse(answer).link.id,
      find: async (addressed, id) => {
        const again = await findAgain(addressed, id);
        return again && { link: again.link };
      },
    },
    handle: async ({ deps, caller, body }) => ({
      link: toLink(await alias(deps, caller, body, onLinked)),
    }),
  }),
];

const linkRoutes = [
  route({
    method: 'GET',
    path: '/v1/identity-links',
    access: 'server',
    summary: 'The log of identity links, newest first.',
    query: LinkQuery,
    status: 200,
    answer: pageOf(Link),
    handle: ({ deps, caller, query }) =>
      inProject(deps, caller.projectId, async (scope) => {
        const rows = await identity.listLinks(scope, {
          limit: query.limit + 1,
          beforeId: readCursor(z.tuple([z.uuid()]), query.cursor)?.[0] ?? null,
          profileId: query.profile_id ?? null,
          status: query.status ?? null,
        });
        return toPage(rows, query.limit, { item: toLink, position: (row) => [row.link_id] });
      }),
  }),
  route({
    method: 'GET',
    path: '/v1/identity-links/:id',
    access: 'server',
    summary: 'Read one identity link.',
    params: LinkParams,
    status: 200,
    answer: Link,
    find: findLink,
    handle: ({ found }) => Promise.resolve(toLink(found)),
  }),
];

const undoRoutes = (onLinked: OnLinked, listRuns: ListRuns) => [
  route({
    method: 'GET',
    path: '/v1/identity-links/:id/undo-preview',
    access: 'server',
    summary: 'What undoing a link would change.',
    description:
      'Which identifiers and traits go, how many events, for whom runs go on, and which addresses stay left alone. ' +
      'Nothing is changed. Of a link that is undone, or was refused, nothing would be.',
    params: LinkParams,
    status: 200,
    answer: UndoPreview,
    find: findLink,
    handle: ({ deps, caller, found }) =>
      inProject(deps, caller.projectId, (scope) => previewUndo(scope, found, listRuns)),
  }),
  route({
    method: 'POST',
    path: '/v1/identity-links/:id/undo',
    access: 'server',
    summary: 'Undo a link: both people become what they would be without it.',
    description:
      'That includes what arrived meanwhile, and the link of a browser that this one had replaced: it is active ' +
      'again. Runs that ended as `merged` continue where they were. Email that was sent stays sent. The log of a run ' +
      'says what could not be restored (`not_restored`). Undoing twice answers the same.',
    params: LinkParams,
    body: NothingNeeded,
    isBodyOptional: true,
    status: 200,
    answer: Undone,
    example: UNDONE_SHOWN,
    again: { idIn: (answer) => Undone.parse(answer).link.id, find: findAgain },
    find: findLink,
    handle: async ({ deps, caller: { projectId }, found }) => {
      const asked = { projectId, linkId: found.link_id, by: 'server_key', onLinked };
      const undone = await undo(deps, asked);
      // Erased since it was found.
      if (!undone) throw new Refusal('not_found');
      return undone;
    },
  }),
];

/** The endpoints of who is who. What else a link means is for rooms above this one to say. */
export const identityRoutes = (onLinked: OnLinked, listRuns: ListRuns) => [
  ...linkingRoutes(onLinked),
  ...linkRoutes,
  ...undoRoutes(onLinked, listRuns),
];
