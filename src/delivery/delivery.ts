import { inProject } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import type { Hint } from '../base/hints.ts';
import { newId } from '../base/ids.ts';
import * as providers from '../providers/providers.ts';
import * as suppression from '../suppression/suppression.ts';
import { handOff } from './hand_off.ts';
import type { HandOffContext, Prepared } from './hand_off.ts';
import { prepareSends } from './prepare.ts';
import { claimSends, planSend, postponeSend } from './queries.ts';
import type { Claimed, NewSend, Planned } from './queries.ts';
import { RETRY_BASE_SECONDS, RETRY_MAX_SECONDS } from './retry.ts';

export { findSentTo, recordFact } from './feedback_queries.ts';
export { countBetween } from './log_queries.ts';
export { settleLost } from './sweep_queries.ts';
export { readMessageId } from './message.ts';
export { HAND_OFF_DEADLINE_MS } from './hand_off.ts';

/** How many sends one turn of a provider takes: the quantum that keeps projects fair. */
export const CLAIM_SENDS_MAX = 100;
/** Preparing and handing over a claim takes less; then others may take what is left. */
const LEASE_SECONDS = 120;
export const EXPIRES_AFTER_HOURS_DEFAULT = 72;

/** Wakes a worker for the queued sends of a provider. */
export const sendHint = (projectId: string, providerId: string): Hint => ({
  task: 'delivery/send_queued',
  payload: { project_id: projectId, provider_id: providerId },
});

export type Intent = Omit<NewSend, 'sendId' | 'addressKey' | 'expiresAfterHours'>;

/**
 * Makes the one send of a run's step, or answers with the one that is there. An address on the
 * suppression list makes a send that has ended already, so that the refusal can be seen.
 */
export const plan = (scope: Scope, intent: Intent): Promise<Planned> =>
  planSend(scope, {
    ...intent,
    sendId: newId(),
    addressKey: suppression.addressKey(scope, intent.recipient),
    expiresAfterHours: EXPIRES_AFTER_HOURS_DEFAULT,
  });

/** Runs work over items with a bounded number at a time. */
const eachAtMost = async <T>(
  items: T[],
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> => {
  const rest = items.values();
  const lane = async () => {
    for (const item of rest) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
};

/** Puts a send back: it waits for its next attempt, longer the older it is. */
const postpone = async (
  { deps, projectId, owner }: HandOffContext,
  { send }: Prepared,
  reason: string,
): Promise<void> => {
  const wait = {
    reason,
    jitter: Math.random(),
    minSeconds: RETRY_BASE_SECONDS,
    maxSeconds: RETRY_MAX_SECONDS,
  };
  await inProject(deps, projectId, (scope) => postponeSend(scope, send.send_id, owner, wait));
};

/** Gives a send back untouched, for the next worker: this one stops. */
const giveBack = async (context: HandOffContext, { send }: Prepared): Promise<void> => {
  const { deps, projectId, owner } = context;
  const now = { reason: null, jitter: 0, minSeconds: 0, maxSeconds: 0 };
  await inProject(deps, projectId, (scope) => postponeSend(scope, send.send_id, owner, now));
};

/** Hands over a turn's sends. Once the provider cannot be reached, the rest is put back untried. */
const handOverAll = async (context: HandOffContext, prepared: Prepared[]): Promise<void> => {
  let unreachable: string | null = null;
  await eachAtMost(prepared, providers.LINKS_PER_PROVIDER_MAX, async (one) => {
    if (context.signal.aborted) return giveBack(context, one);
    if (unreachable === null) {
      const failure = await handOff(context, one);
      if (failure === null) return undefined;
      unreachable = 'reason' in failure ? failure.reason : 'connection_failed';
    }
    return postpone(context, one, unreachable);
  });
};

/** Whose turn it is, and which worker takes it until when. */
export type Turning = { projectId: string; providerId: string; owner: string; signal: AbortSignal };

type Turn = { ready: providers.Ready; claimed: readonly Claimed[] };

/** Leases in a transaction of its own: whatever rendering may do, the lease is there to run out. */
const takeTurn = (deps: Deps, { projectId, providerId, owner }: Turning): Promise<Turn | null> =>
  inProject(deps, projectId, async (scope) => {
    const ready = await providers.findReady(scope, providerId);
    if (!ready) return null;
    const claim = { providerId, owner, sendsMax: CLAIM_SENDS_MAX, leaseSeconds: LEASE_SECONDS };
    return { ready, claimed: await claimSends(scope, claim) };
  });

/**
 * One turn of a provider: lease what is due, render it, hand it over. Answers whether more may be
 * due. Safe to run twice or at once: each hand-off is decided by a compare-and-set of its row.
 */
export const sendQueued = async (deps: Deps, turning: Turning): Promise<boolean> => {
  const turn = await takeTurn(deps, turning);
  if (!turn) return false;
  const { projectId, owner, signal } = turning;
  const prepared = await inProject(deps, projectId, (scope) =>
    prepareSends(scope, { ...turn, owner }),
  );
  await handOverAll({ deps, projectId, owner, signal, ready: turn.ready }, prepared);
  return turn.claimed.length === CLAIM_SENDS_MAX;
};
