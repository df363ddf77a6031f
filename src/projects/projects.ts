import { hash } from 'node:crypto';
import { z } from 'zod';
import type { Caller, KeyKind } from '../base/caller.ts';
import { inProject } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { newId } from '../base/ids.ts';
import { isStorable } from '../base/text.ts';
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
import { makeToken, readTokenKind } from './token.ts';

export { findProject, findProjectByName, listKeys, listProjects };
export type { ListedKey };

const PROJECTS_AT_ONCE = 200;
export const PROJECT_NAME_CHARS_MAX = 200;

export const ProjectName = z
  .string()
  .trim()
  .min(1, 'must not be empty')
  .max(PROJECT_NAME_CHARS_MAX, `at most ${PROJECT_NAME_CHARS_MAX} characters`)
  .refine(isStorable, 'must be well-formed Unicode without U+0000');

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

/** A live key: whom it speaks for, and a name to count its uses under. */
export type Key = { caller: Caller; keyId: string };
type CachedKey = { key: Key; until: number };
const makeKeyCache = () => new Map<string, CachedKey>();

const hashToken = ({ keys }: Pick<Deps, 'keys'>, token: string): Buffer =>
  keys.hash('api-key-pepper', token);

/** The live key of a token, or null. Malformed tokens cost no database work. */
export const findKey = async (
  deps: ProjectDeps & Pick<Deps, 'resources'>,
  token: string,
  now = Date.now(),
): Promise<Key | null> => {
  const kind = readTokenKind(token);
  if (!kind) return null;

  const cache = deps.resources.of(makeKeyCache, undefined);
  const cacheKey = hash('sha256', token, 'base64');
  const cached = cache.get(cacheKey);
  if (cached && cached.until > now) return cached.key;

  const row = await findLiveKey(deps.db, hashToken(deps, token));
  cache.delete(cacheKey);
  if (!row || row.kind !== kind) return null;

  const key = { caller: { projectId: row.project_id, kind }, keyId: row.key_id };
  if (cache.size >= KEY_CACHE_ENTRIES_MAX) cache.clear();
  cache.set(cacheKey, { key, until: now + KEY_CACHE_MS });
  return key;
};

/** The caller behind a token, or null. Malformed tokens cost no database work. */
export const findCaller = async (
  deps: ProjectDeps & Pick<Deps, 'resources'>,
  token: string,
  now = Date.now(),
): Promise<Caller | null> => (await findKey(deps, token, now))?.caller ?? null;

/** Makes a key in a transaction of its project. */
const makeKey = async (scope: Scope, kind: KeyKind): Promise<string> => {
  const token = makeToken(kind);
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
