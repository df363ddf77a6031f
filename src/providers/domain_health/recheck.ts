import { inProject } from '../../base/db.ts';
import type { Deps } from '../../base/deps.ts';
import { newId } from '../../base/ids.ts';
import { findProvider } from '../queries.ts';
import { claimChecks } from './queries.ts';
import { recordCheck } from './record.ts';

/** How many domains of one project, and of all, one run of the job checks; how many at a time, and for how long. */
export const RECHECKED_PER_PROJECT_MAX = 20;
export const RECHECKED_PER_RUN_MAX = 500;
export const RECHECKS_AT_ONCE_MAX = 4;
export const RECHECK_RUN_TIME_MAX_MS = 10 * 60_000;
/** After so long a check that was claimed and not recorded is due again. */
const LEASE_SECONDS = 15 * 60;

type RecheckRun = { deps: Deps; signal: AbortSignal };

/**
 * Checks the domains of providers whose daily check is due, over some projects, within the bounds of a run. Returns how
 * many were recorded. What is left is due at the next run; safe to run several times at once.
 */
export const recheckDomains = async (
  { deps, signal }: RecheckRun,
  projectIds: AsyncIterable<string>,
): Promise<number> => {
  const endsAt = performance.now() + RECHECK_RUN_TIME_MAX_MS;
  let left = RECHECKED_PER_RUN_MAX;
  let recorded = 0;
  for (const projectId of rotateAtRandom(await collect(projectIds))) {
    if (signal.aborted || left <= 0 || performance.now() >= endsAt) break;
    const claimMax = Math.min(left, RECHECKED_PER_PROJECT_MAX);
    const due = await inProject(deps, projectId, (scope) =>
      claimChecks(scope, { claimMax, leaseSeconds: LEASE_SECONDS }),
    );
    left -= due.length;
    recorded += await recheckEach({ deps, signal }, projectId, due);
  }
  return recorded;
};

const collect = async (ids: AsyncIterable<string>): Promise<string[]> => {
  const all: string[] = [];
  for await (const id of ids) all.push(id);
  return all;
};

/** All of a list, from some place on: where there is more than a run can do, no project is always the last. */
const rotateAtRandom = (ids: readonly string[]): string[] => {
  const start = Math.floor(Math.random() * ids.length);
  return [...ids.slice(start), ...ids.slice(0, start)];
};

/** So many at a time: each takes the next that is left. One that fails is logged, and due again after its lease. */
const recheckEach = async (
  { deps, signal }: RecheckRun,
  projectId: string,
  due: readonly { provider_id: string }[],
): Promise<number> => {
  const waiting = [...due];
  let recorded = 0;
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next && !signal.aborted; next = waiting.shift())
      try {
        if (await recheck(deps, projectId, next.provider_id)) recorded += 1;
      } catch (error) {
        const about = { err: error, project_id: projectId, provider_id: next.provider_id };
        deps.log.warn(about, 'the domain of a provider could not be checked');
      }
  };
  await Promise.all(Array.from({ length: RECHECKS_AT_ONCE_MAX }, work));
  return recorded;
};

const recheck = async (deps: Deps, projectId: string, providerId: string): Promise<boolean> => {
  const row = await inProject(deps, projectId, (scope) => findProvider(scope, providerId));
  if (!row) return false;
  return (await recordCheck({ deps, projectId }, row, newId())) !== null;
};
