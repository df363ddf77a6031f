import { z } from 'zod';
import type { KeyKind } from '../base/caller.ts';
import type { Deps } from '../base/deps.ts';
import { confirmedProcedure, ownerProcedure, projectProcedure, router } from '../base/procedure.ts';
import { Refusal } from '../base/refusal.ts';
import { issueKey, listKeys, revokeKey } from './projects.ts';
import type { ListedKey } from './projects.ts';

/** So many keys of a project are looked through, the newest first. */
const KEYS_MAX = 200;
/** What programs call the API with. */
const API_KINDS = ['publishable', 'server'] as const;

const listLive = async (
  { db }: Pick<Deps, 'db'>,
  projectId: string,
  kinds: readonly KeyKind[],
): Promise<ListedKey[]> => {
  const keys = await listKeys(db, projectId, { limit: KEYS_MAX, beforeId: null });
  return keys.filter(({ kind, revoked_at }) => kinds.includes(kind) && revoked_at === null);
};

const show = ({ key_id, last_four, created_at }: ListedKey) => ({
  id: key_id,
  last_four,
  created_at: created_at.toISOString(),
});

const isOneOf = async (
  { db }: Pick<Deps, 'db'>,
  projectId: string,
  { keyId, kinds }: { keyId: string; kinds: readonly KeyKind[] },
): Promise<boolean> => {
  const keys = await listKeys(db, projectId, { limit: KEYS_MAX, beforeId: null });
  return keys.some(({ key_id, kind }) => key_id === keyId && kinds.includes(kind));
};

/** The keys of the API. Several of a kind may live, so that one is replaced without a gap. */
export const keyProcedures = router({
  list: ownerProcedure.query(async ({ ctx: { deps }, input: { projectId } }) => ({
    items: (await listLive(deps, projectId, API_KINDS)).map((key) => ({
      kind: key.kind,
      ...show(key),
    })),
  })),

  /** Answers the key, which is shown here and never again. The password again. */
  issue: confirmedProcedure
    .input(z.object({ kind: z.enum(API_KINDS) }))
    .mutation(async ({ ctx: { deps }, input: { projectId, kind } }) => ({
      key: await issueKey(deps, projectId, kind),
    })),

  revoke: ownerProcedure
    .input(z.object({ keyId: z.uuid() }))
    .mutation(async ({ ctx: { deps }, input: { projectId, keyId } }) => {
      if (!(await isOneOf(deps, projectId, { keyId, kinds: API_KINDS })))
        throw new Refusal('not_found', { detail: 'There is no such key.' });
      await revokeKey(deps, projectId, keyId);
      return { id: keyId };
    }),
});

/** What providers post feedback with. Several may live, so that one is replaced without a gap. */
export const webhookTokenProcedures = router({
  list: projectProcedure.query(async ({ ctx: { deps }, input: { projectId } }) => ({
    items: (await listLive(deps, projectId, ['hook'])).map(show),
  })),

  /** Answers the token, which is shown here and never again. The password again. */
  issue: confirmedProcedure.mutation(async ({ ctx: { deps }, input: { projectId } }) => ({
    token: await issueKey(deps, projectId, 'hook'),
  })),

  revoke: ownerProcedure
    .input(z.object({ tokenId: z.uuid() }))
    .mutation(async ({ ctx: { deps }, input: { projectId, tokenId } }) => {
      if (!(await isOneOf(deps, projectId, { keyId: tokenId, kinds: ['hook'] })))
        throw new Refusal('not_found', { detail: 'There is no such webhook token.' });
      await revokeKey(deps, projectId, tokenId);
      return { id: tokenId };
    }),
});
