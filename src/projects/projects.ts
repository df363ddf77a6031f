import type { Caller, KeyKind } from '../base/caller.ts';
import type { Deps } from '../base/deps.ts';
import { newId } from '../base/ids.ts';
import {
  findLiveKey,
  findProject,
  findProjectByName,
  insertKey,
  insertProject,
  listProjects,
} from './queries.ts';
import { makeToken, readTokenKind } from './token.ts';

export { findProject, findProjectByName, listProjects };

type ProjectDeps = Pick<Deps, 'db' | 'keys'>;

/** A revoked key stops working within this time, in every process. */
export const KEY_CACHE_MS = 30_000;
const KEY_CACHE_ENTRIES_MAX = 10_000;

type CachedCaller = { caller: Caller; until: number };
const makeCallerCache = () => new Map<string, CachedCaller>();

const hashToken = ({ keys }: Pick<Deps, 'keys'>, token: string): Buffer =>
  keys.hash('api-key-pepper', token);

/** The caller behind a token, or null. Malformed tokens cost no database work. */
export const findCaller = async (
  deps: ProjectDeps & Pick<Deps, 'resources'>,
  token: string,
  now = Date.now(),
): Promise<Caller | null> => {
  const kind = readTokenKind(token);
  if (!kind) return null;

  const keyHash = hashToken(deps, token);
  const cache = deps.resources.of(makeCallerCache, undefined);
  const cacheKey = keyHash.toString('base64');
  const cached = cache.get(cacheKey);
  if (cached && cached.until > now) return cached.caller;

  const row = await findLiveKey(deps.db, keyHash);
  cache.delete(cacheKey);
  if (!row || row.kind !== kind) return null;

  const caller = { projectId: row.project_id, kind };
  if (cache.size >= KEY_CACHE_ENTRIES_MAX) cache.clear();
  cache.set(cacheKey, { caller, until: now + KEY_CACHE_MS });
  return caller;
};

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
