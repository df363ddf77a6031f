import { hash } from 'node:crypto';
import { z } from 'zod';
import type { Caller, KeyKind } from '../base/caller.ts';
import { inProject } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { newId } from '../base/ids.ts';
import { isStorable, NOT_STORABLE } from '../base/text.ts';
import { tokenLookupsOf } from '../base/token_lookups.ts';
import {
  findListedKey,
  findLiveKey,
  findProject,
  findProjectByName,
  insertKey,
  insertProject,
  listKeys,
  listProjects,
  setProjectName,
  setRevoked,
} from './queries.ts';
import type { ListedKey } from './queries.ts';
import { isIssuedToken, makeToken, readTokenKind } from './token.ts';

export { findProject, findProjectByName, listKeys, listProjects };
export { pruneInRounds } from './prune_rounds.ts';
export type { ListedKey };

const PROJECTS_AT_ONCE = 200;
export const PROJECT_NAME_CHARS_MAX = 200;

export const ProjectName = z
  .string()
  .trim()
  .min(1, 'must not be empty')
  .max(PROJECT_NAME_CHARS_MAX, `at most ${PROJECT_NAME_CHARS_MAX} characters`)
  .refine(isStorable, NOT_STORABLE);

/** Every project's id, for work that is done project by project. */
export async function* everyProject(deps: Pick<Deps, 'db'>): AsyncGenerator<string> {
  for (let beforeId: string | null = null; ;) {
    const projects = await listProjects(deps.db, { limit: PROJECTS_AT_ONCE, beforeId });
    for (const { project_id } of projects) yield project_id;
    beforeId = projects.at(-1)?.project_id ?? null;
    if (projects.length < PROJECTS_AT_ONCE) return;
  }
}

type ProjectDeps = Pick<Deps, 'db' | 'keys' | 'audit'>;

/** A revoked key stops working within this time, in every process. */
export const KEY_CACHE_MS = 30_000;
const KEY_CACHE_ENTRIES_MAX = 10_000;

/** A live key: its caller, and a name to count its uses under. */
export type Key = { caller: Caller; keyId: string };
type CachedKey = { key: Key; until: number };
const makeKeyCache = () => new Map<string, CachedKey>();

const hashToken = ({ keys }: Pick<Deps, 'keys'>, token: string): Buffer =>
  keys.hash('api-key-pepper', token);

/** Where a token came from, which bounds how many unknown ones are looked up; and when. */
export type TokenOrigin = { address?: string | undefined; now?: number | undefined };

type LookupDeps = ProjectDeps & Parameters<typeof tokenLookupsOf>[0];

/**
 * Finds the live key of a token, or null. A malformed token costs no statement, and neither does a made-up one
 * once its address has sent too many: that is refused with `rate_limited`. A token that this service made never is.
 */
export const findKey = async (
  deps: LookupDeps,
  token: string,
  { address, now = Date.now() }: TokenOrigin = {},
): Promise<Key | null> => {
  const kind = readTokenKind(token);
  if (!kind) return null;

  const cache = deps.resources.of(makeKeyCache, undefined);
  const digest = hash('sha256', token, 'base64');
  const cached = cache.get(digest);
  if (cached && cached.until > now) return cached.key;

  const lookup = { kind, digest, address, now, isIssued: isIssuedToken(deps.keys, token) };
  const row = await tokenLookupsOf(deps).find(lookup, () =>
    findLiveKey(deps.db, hashToken(deps, token)),
  );
  cache.delete(digest);
  if (!row || row.kind !== kind) return null;

  const caller = { projectId: row.project_id, kind, keyId: row.key_id };
  const key = { caller, keyId: row.key_id };
  const [oldest] = cache.keys();
  if (cache.size >= KEY_CACHE_ENTRIES_MAX && oldest !== undefined) cache.delete(oldest);
  cache.set(digest, { key, until: now + KEY_CACHE_MS });
  return key;
};

/** Finds the caller behind a token, or null, as `findKey` does. */
export const findCaller = async (
  deps: LookupDeps,
  token: string,
  origin: TokenOrigin = {},
): Promise<Caller | null> => (await findKey(deps, token, origin))?.caller ?? null;

/** Makes a key in a transaction of its project. */
const makeKey = async (scope: Scope, kind: KeyKind): Promise<string> => {
  const token = makeToken(kind, scope.keys);
  await insertKey(scope, {
    keyId: newId(),
    kind,
    keyHash: hashToken(scope, token),
    lastFour: token.slice(-4),
  });
  return token;
};

/** Makes a key and answers its token, which is kept nowhere. */
export const issueKey = (deps: ProjectDeps, projectId: string, kind: KeyKind): Promise<string> =>
  inProject(deps, projectId, (scope) => makeKey(scope, kind));

/**
 * Revokes a key; answers it, or null where the project has no such key. It stops working within
 * KEY_CACHE_MS in every process, in this one sooner. Revoking twice is revoking once.
 */
export const revokeKey = async (
  deps: ProjectDeps & Pick<Deps, 'resources'>,
  projectId: string,
  keyId: string,
): Promise<ListedKey | null> => {
  await inProject(deps, projectId, (scope) => setRevoked(scope, keyId));
  const cache = deps.resources.of(makeKeyCache, undefined);
  for (const [hash, { key }] of cache) if (key.keyId === keyId) cache.delete(hash);
  return findListedKey(deps.db, projectId, keyId);
};

export type NewProject = {
  project_id: string;
  publishable_key: string;
  server_key: string;
  hook_token: string;
};

/** Makes the project of a scope, without keys. */
export const makeProject = async (scope: Scope, name: string): Promise<void> => {
  await insertProject(scope, name);
};

/** Gives the project of a scope another name. */
export const renameProject = async (scope: Scope, name: string): Promise<void> => {
  await setProjectName(scope, name);
};

/** Makes a project with one key of each kind, all or nothing. The tokens are shown here and never again. */
export const createProject = (deps: ProjectDeps, name: string): Promise<NewProject> =>
  inProject(deps, newId(), async (scope) => {
    await makeProject(scope, name);
    return {
      project_id: scope.projectId,
      publishable_key: await makeKey(scope, 'publishable'),
      server_key: await makeKey(scope, 'server'),
      hook_token: await makeKey(scope, 'hook'),
    };
  });
