import type { Scope } from '../base/db.ts';
import * as providers from '../providers/providers.ts';
import { releaseDeadLeases } from './queries.ts';
import { listRamped, releaseRampedSends } from './wait_queries.ts';

type Share = Parameters<typeof providers.giveBack>[2];

/** Gives back what a provider allowed, and was not used. Answers whether something that waited may go instead. */
export const giveBackShare = async (
  scope: Scope,
  providerId: string,
  share: Share,
): Promise<boolean> => {
  const hasRoom = await providers.giveBack(scope, providerId, share);
  if (!hasRoom) return false;
  const ramped = await listRamped(scope, providerId, { after: null, sendsMax: share.sends });
  return (await releaseRampedSends(scope, ramped, { mayWait: false })) > 0;
};

/**
 * Gives back what dead owners took of a provider and did not begin: their leases, their share of a day's ramp and the
 * probe of its circuit. Said twice it is as once: what is given back is nobody's.
 */
export const giveBackLost = async (
  scope: Scope,
  providerId: string,
  deadOwners: string[],
): Promise<void> => {
  const sends = await releaseDeadLeases(scope, providerId, deadOwners);
  await giveBackShare(scope, providerId, { sends, isProbe: false, deadOwners });
};
