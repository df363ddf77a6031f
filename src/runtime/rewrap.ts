import { randomBytes } from 'node:crypto';
import { inProject } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { readMasterKey } from '../config/master_key.ts';
import { everyProject } from '../projects/projects.ts';
import { rewrapDataKeys } from '../providers/providers.ts';

const KEY_BYTES = 32;

/** The MASTER_KEY that follows one: a new outer key, the same root. */
export const nextMasterKey = (text: string): string => {
  const { root, outer } = readMasterKey(text);
  const key = randomBytes(KEY_BYTES).toString('hex');
  return `${outer.version + 1}:${key}:${root.toString('hex')}`;
};

/**
 * Wraps every data key with today's outer key, a project at a time; answers how many. Stopped in between,
 * it goes on where it was when it is run again.
 */
export const rewrapAll = async (deps: Pick<Deps, 'db' | 'keys'>): Promise<number> => {
  let rewrapped = 0;
  for await (const projectId of everyProject(deps))
    rewrapped += await inProject(deps, projectId, rewrapDataKeys);
  return rewrapped;
};
