import { inProject } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import type { Hint } from '../base/hints.ts';
import { newId } from '../base/ids.ts';
import * as providers from '../providers/providers.ts';
import * as suppression from '../suppression/suppression.ts';
import { cancelIfGone } from './gone.ts';
import { handOff } from './hand_off.ts';
import type { HandOffContext, Prepared } from './hand_off.ts';
import { prepareSends } from './prepare.ts';
import { claimSends, expireSends, planSend, postponeSend, releaseLeases } from './queries.ts';
import type { Category, Claimed, NewSend, Planned } from './queries.ts';
import { Turn, Turns } from './turns.ts';
import { RETRY_BASE_SECONDS, RETRY_MAX_SECONDS } from './retry.ts';

export { eraser } from './erase.ts';
export { sendSection } from './export.ts';
export { findSentTo, recordFact } from './feedback_queries.ts';
export type { Fact, Found as SentTo } from './feedback_queries.ts';
export { countBetween } from './log_queries.ts';
export { settleLost } from './sweep_queries.ts';
export { readMessageId } from './message.ts';
export { CATEGORIES } from './queries.ts';
export type { Category };
export { expireSends };
export { HAND_OFF_DEADLINE_MS } from './hand_off.ts';

/** How many sends one turn of a provider takes: the quantum that keeps projects fair. */
export const CLAIM_SENDS_MAX = 100;
/** After that others may take what is not begun, also when its owner died: well within a minute. */
const LEASE_SECONDS = 30;
export const EXPIRES_AFTER_HOURS_DEFAULT = 72;

/** Wakes a worker for the queued sends of a provider. */
export const sendHint = (projectId: string, providerId: string): Hint => ({
  task: 'delivery/send_queued',
  payload: { project_id: projectId, provider_id: providerId },
});

export type Intent = Omit<NewSend, 'sendId' | 'addressKey' | 'expiresAfterHours' | 'category'> & {
  /** Marketing, unless it is said otherwise. */
  category?: Category;
};

/**
 * Makes the one send of a run's step, or answers with the one that is there. An address on the
 * suppression list makes a send that has ended already, so that the refusal can be seen.
 */
export const plan = (scope: Scope, intent: Intent): Promise<Planned> =>
  planSend(scope, {
    category: 'marketing',
    ...intent,
    sendId: newId(),
    addressKey: suppression.addressKey(scope, intent.recipient),
    expiresAfterHours: EXPIRES_AFTER_HOURS_DEFAULT,
  });

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

/** Wrong credentials and certificates do not mend themselves: nobody tries again until the record is saved. */
const parkIfHopeless = async (context: HandOffContext, reason: string): Promise<void> => {
  const { deps, projectId, ready } = context;
  if (!providers.HOPELESS_REASONS.includes(reason)) return;
  await inProject(deps, projectId, (scope) => providers.park(scope, ready.providerId, reason));
  deps.log.error(
    { project_id: projectId, provider_id: ready.providerId, reason },
    'provider parked',
  );
};

/** Hands over one send after the other. Once the provider cannot be reached, the rest is put back untried. */
const makeTurn = (context: HandOffContext): Turn<Prepared> => {
  let unreachable: string | null = null;
  return new Turn(providers.LINKS_PER_PROVIDER_MAX, async (one) => {
    if (context.signal.aborted) return undefined;
    if (unreachable === null) {
      const failure = await handOff(context, one);
      if (failure === null) return undefined;
      unreachable = 'reason' in failure ? failure.reason : 'connection_failed';
      await parkIfHopeless(context, unreachable);
    }
    return postpone(context, one, unreachable);
  });
};

/** Whose turn it is, and which worker takes it until when. */
export type Turning = { projectId: string; providerId: string; owner: string; signal: AbortSignal };

type Taken = { ready: providers.Ready; claimed: readonly Claimed[] };

/** Leases in a transaction of its own: whatever rendering may do, the lease is there to run out. */
const takeSends = (deps: Deps, { projectId, providerId, owner }: Turning): Promise<Taken | null> =>
  inProject(deps, projectId, async (scope) => {
    const ready = await providers.findReady(scope, providerId);
    if (!ready) {
      await cancelIfGone(scope, providerId);
      return null;
    }
    const claim = { providerId, owner, sendsMax: CLAIM_SENDS_MAX, leaseSeconds: LEASE_SECONDS };
    return { ready, claimed: await claimSends(scope, claim) };
  });

/** Half of a worker's jobs: relays that hang must not stop events from being processed. */
const makeTurns = ({ config }: Pick<Deps, 'config'>) =>
  new Turns<Prepared>(Math.max(1, Math.floor(config.workerConcurrency / 2)));

const fill = async (
  deps: Deps,
  { projectId, owner }: Turning,
  turn: Turn<Prepared>,
  taken: Taken,
): Promise<void> => turn.add(await prepareSends(deps, { ...taken, projectId, owner }));

/**
 * A turn of a provider: lease what is due, render it, hand it over. Answers whether more may be due.
 * Finds a turn that runs already, it adds to that and is done. With no place for another provider it
 * does nothing: the sweeper reminds of what is left. Safe to run twice or at once: each hand-off is
 * decided by a compare-and-set of its row.
 */
export const sendQueued = async (deps: Deps, turning: Turning): Promise<boolean> => {
  const { projectId, providerId, owner, signal } = turning;
  const turns = deps.resources.of(makeTurns, deps);
  const running = turns.find(providerId);
  if (running ? !running.hasRoom : !turns.hasRoom) return false;

  const taken = await takeSends(deps, turning);
  if (!taken || taken.claimed.length === 0) return false;
  const isMore = taken.claimed.length === CLAIM_SENDS_MAX;
  const other = turns.find(providerId);
  if (other) {
    await fill(deps, turning, other, taken);
    return isMore;
  }
  const turn = makeTurn({ deps, projectId, owner, signal, ready: taken.ready });
  try {
    await turns.run(providerId, turn, () => fill(deps, turning, turn, taken));
  } finally {
    // Whatever went wrong, what was leased and not begun waits for nobody.
    await inProject(deps, projectId, (scope) => releaseLeases(scope, providerId, owner));
  }
  return isMore;
};
