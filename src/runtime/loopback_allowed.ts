import { Resolver } from 'node:dns/promises';
import { resolveEgress } from '../base/egress.ts';

export const LOOPBACK = '127.0.0.1';

/** Throws where the mail catcher of `make start` may not be connected to: the example sends through it. */
export const requireLoopback = async (allowNetworks: readonly string[]): Promise<void> => {
  const answer = await resolveEgress(LOOPBACK, allowNetworks, new Resolver());
  if (answer.kind === 'open' && answer.isInAllowedNetwork) return;
  throw new Error(
    `EGRESS_ALLOW_NETWORKS lacks ${LOOPBACK}, where the mail catcher of make start listens. Set ` +
      `EGRESS_ALLOW_NETWORKS=${[...allowNetworks, `${LOOPBACK}/32`].join(',')}.`,
  );
};
