import type { Deps } from '../base/deps.ts';
import { Refusal } from '../base/refusal.ts';
import { toFailure } from './failures.ts';
import { makeHourlyCount } from './hourly_count.ts';
import { requireLogin } from './login.ts';
import { networkOf } from './network.ts';
import { isOutside } from './outside.ts';
import type { Settings } from './settings.ts';
import { preflight } from './transports.ts';

/**
 * How often a project may have a host of its choice connected to, in each process: enough to find the
 * right settings, too little to scan ports.
 */
export const CHECKS_PER_HOUR = 60;

/** Counts a connection that a customer asked for, or refuses it. */
export const countCheck = makeHourlyCount({
  most: CHECKS_PER_HOUR,
  says: `Providers are connected to and tested ${CHECKS_PER_HOUR} times an hour at most.`,
});

/**
 * Refuses settings that do not work, with the class of the failure and what to do about it. Returns whether the
 * provider is outside this machine and the operator's networks.
 */
export const prove = async (
  deps: Deps,
  settings: Settings & { from_email: string },
): Promise<boolean> => {
  const network = networkOf(deps);
  await requireLogin(settings, network);
  const outcome = await preflight(settings, network, settings.from_email);
  if (outcome.kind === 'passed') return isOutside(settings, network);
  throw new Refusal('provider_preflight_failed', { members: toFailure(outcome.reason) });
};
