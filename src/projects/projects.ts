import { hash } from 'node:crypto';
import type { Caller, KeyKind } from '../base/caller.ts';
import type { Deps } from '../base/deps.ts';
import { newId } from '../base/ids.ts';
import {
  findListedKey,
  findLiveKey,
  findProject,
  findProjectByName,
  insertKey,
  insertProject,
  listKeys,
  listProjects,
  setRevoked,
} from './queries.ts';
import type { ListedKey } from './queries.ts';
import { makeToken, readTokenKind } from './token.ts';

export { findProject, findProjectByName, listKeys, listProjects };
export type { ListedKey };

const PROJECTS_AT_ONCE = 200;

/** Every project's id, for work that is done project by project. */
export async function* everyProject(deps: Pick<Deps, 'db'>): AsyncGenerator<string> {
  for (let beforeId: string | null = null; ;) {
    const projects = await listProjects(deps.db, { limit: PROJECTS_AT_ONCE, beforeId });
    for (const { project_id } of projects) yield project_id;
    beforeId = projects.at(-1)?.project_id ?? null;
    if (projects.length < PROJECTS_AT_ONCE) return;
  }
}

type ProjectDeps = Pick<Deps, 'db' | 'keys'>;

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

/** Makes a key and answers its token, which is kept nowhere. */
export const issueKey = async (
  deps: ProjectDeps,
  projectId: string,
  kind: KeyKind,
): Promise<string> => {
  const token = makeToken(kind);
  await insertKey(deps.db, {
    projectId,
    keyId: newId(),
    kind,
    keyHash: hashToken(deps, token),
    lastFour: token.slice(-4),
  });
  return token;
};

/**
 * Revokes a key; answers it, or null where the project has no such key. It stops working within
 * KEY_CACHE_MS in every process, in this one sooner. Revoking twice is revoking once.
 */
export const revokeKey = async (
  deps: Pick<Deps, 'db' | 'resources'>,
  projectId: string,
  keyId: string,
): Promise<ListedKey | null> => {
  await setRevoked(deps.db, projectId, keyId);
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

/** Makes a project with one key of each kind. The tokens are shown here and never again. */
export const createProject = async (deps: ProjectDeps, name: string): Promise<NewProject> => {
  const projectId = newId();
  await insertProject(deps.db, projectId, name);
  return {
    project_id: projectId,
    publishable_key: await issueKey(deps, projectId, 'publishable'),
    server_key: await issueKey(deps, projectId, 'server'),
    hook_token: await issueKey(deps, projectId, 'hook'),
  };
};
