import { inProject } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { listRamped, releaseRampedSends } from './wait_queries.ts';
import type { Ramped } from './wait_queries.ts';

/** How much of what waits for a ramp is made due in one transaction. */
const RAMP_RELEASED_MAX = 1_000;

/**
 * Makes due again what waits for the next day of a provider's ramp: the ramp is another one now, or gone. Goes
 * through them once, a bounded number in each transaction; what the new ramp has no room for is put off again.
 */
export const releaseRamped = async (
  deps: Deps,
  projectId: string,
  providerId: string,
): Promise<void> => {
  let after: Ramped | null = null;
  do {
    after = await inProject(deps, projectId, async (scope): Promise<Ramped | null> => {
      const ramped = await listRamped(scope, providerId, { after, sendsMax: RAMP_RELEASED_MAX });
      await releaseRampedSends(scope, ramped, { mayWait: true });
      return ramped.at(-1) ?? null;
    });
  } while (after !== null);
};
