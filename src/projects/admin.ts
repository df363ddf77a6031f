import { z } from 'zod';
import { listInput, readCursor, toPage } from '../base/page.ts';
import { personProcedure, projectProcedure, router } from '../base/procedure.ts';
import { Refusal } from '../base/refusal.ts';
import { issueKey, listKeys, listProjects, revokeKey } from './projects.ts';

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

/** So many keys of a project are looked through for its webhook tokens, the newest first. */
const KEYS_MAX = 200;

/** What providers post feedback with. Several may live, so that one is replaced without a gap. */
export const webhookTokenProcedures = router({
  list: projectProcedure.query(async ({ ctx: { deps }, input: { projectId } }) => {
    const keys = await listKeys(deps.db, projectId, { limit: KEYS_MAX, beforeId: null });
    const live = keys.filter(({ kind, revoked_at }) => kind === 'hook' && revoked_at === null);
    return {
      items: live.map(({ key_id, last_four, created_at }) => ({
        id: key_id,
        last_four,
        created_at: created_at.toISOString(),
      })),
    };
  }),

  /** Answers the token, which is shown here and never again. */
  issue: projectProcedure.mutation(async ({ ctx: { deps }, input: { projectId } }) => ({
    token: await issueKey(deps, projectId, 'hook'),
  })),

  revoke: projectProcedure
    .input(z.object({ tokenId: z.uuid() }))
    .mutation(async ({ ctx: { deps }, input: { projectId, tokenId } }) => {
      const keys = await listKeys(deps.db, projectId, { limit: KEYS_MAX, beforeId: null });
      if (!keys.some(({ key_id, kind }) => key_id === tokenId && kind === 'hook'))
        throw new Refusal('not_found', { detail: 'There is no such webhook token.' });
      await revokeKey(deps, projectId, tokenId);
      return { id: tokenId };
    }),
});
