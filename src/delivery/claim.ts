import { inProject } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import * as providers from '../providers/providers.ts';
import type { Allowance, Ready } from '../providers/providers.ts';
import { cancelIfGone } from './gone.ts';
import { cancelHalted } from './halts.ts';
import { claimSends, putOffSends } from './claim_queries.ts';
import type { Claimed } from './claim_queries.ts';
import { RAMP_POSTPONED_MAX, resendUnknown, waitForRamp } from './wait_queries.ts';

/** After so long others may claim what is not begun, also when its owner died: well within a minute. */
const LEASE_SECONDS = 30;

/** What a claim found. */
export type Taken = {
  ready: Ready;
  allowance: Allowance;
  claimed: readonly Claimed[];
  /** Whether more may be due. */
  isMore: boolean;
};

/** What a claim takes at most, and how much of that may be marketing email, and email that pages caused. */
export type Wanted = {
  providerId: string;
  owner: string;
  sendsMax: number;
  marketingMax: number;
  pagesMax: number;
};

/**
 * Returns the claimed sends that neither their automation nor their limits stop or make wait: nothing is rendered only
 * for that.
 */
const leaveKept = async (
  scope: Scope,
  claimed: readonly Claimed[],
  owner: string,
): Promise<readonly Claimed[]> => {
  const asked = claimed.flatMap((one) => (one.may_be_limited ? [one.send_id] : []));
  if (asked.length === 0) return claimed;
  const ended = await cancelHalted(scope, asked);
  const putOff = await putOffSends(scope, asked, owner);
  return claimed.filter(({ send_id }) => !ended.has(send_id) && !putOff.has(send_id));
};

/** Leases due sends in a transaction of its own: a lease is committed before anything is rendered. */
export const takeSends = (
  deps: Deps,
  projectId: string,
  { providerId, owner, ...most }: Wanted,
): Promise<Taken | null> =>
  inProject(deps, projectId, async (scope) => {
    const ready = await providers.findReady(scope, providerId);
    if (!ready) {
      await cancelIfGone(scope, providerId);
      return null;
    }
    const allowance = await providers.allow(scope, providerId);
    const sendsMax = Math.min(most.sendsMax, allowance.sends);
    const marketingMax = Math.min(sendsMax, most.marketingMax, allowance.marketing);
    const pagesMax = Math.min(sendsMax, most.pagesMax, allowance.pages);
    const bounds = { sendsMax, marketingMax, pagesMax };
    const claim = { providerId, owner, ...bounds, leaseSeconds: LEASE_SECONDS };
    if (sendsMax > 0) await resendUnknown(scope, providerId);
    const due = sendsMax > 0 ? await claimSends(scope, claim) : [];
    const { ramped } = allowance;
    const postponed = ramped ? await waitForRamp(scope, providerId, ramped) : 0;
    const claimed = await leaveKept(scope, due, owner);
    await providers.spend(scope, providerId, allowance, { taken: claimed.length, owner });
    const isMore = (sendsMax > 0 && due.length === sendsMax) || postponed >= RAMP_POSTPONED_MAX;
    return { ready, allowance, claimed, isMore };
  });
