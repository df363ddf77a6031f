import type { Deps } from '../base/deps.ts';
import { hint } from '../base/hints.ts';
import * as providers from '../providers/providers.ts';
import type { TakeBounce } from './bounce.ts';
import { takeSends } from './claim.ts';
import type { Taken } from './claim.ts';
import type { Prepared } from './hand_off.ts';
import { HandOffLog } from './hand_off_log.ts';
import { handOverNext } from './lane.ts';
import { giveBack, release, wakeAfter } from './lane_context.ts';
import type { LaneContext, ProviderTurn } from './lane_context.ts';
import { prepareSends } from './prepare.ts';
import {
  CLAIM_SENDS_MAX,
  makeTurns,
  OVERTAKING_SENDS_MAX,
  WAITING_SENDS_LOW,
} from './provider_turns.ts';
import type { Claimed } from './claim_queries.ts';
import { RefusalStreak } from './refusal_streak.ts';
import { sendHint } from './send_hint.ts';
import { lanesOfPages, Turn } from './turn.ts';

/** How many sends one turn of a provider takes before others have theirs: the quantum that keeps projects fair. */
export const TURN_SENDS_MAX = 1_000;
/** How long a turn keeps a job: a relay that is slow goes on without. */
export const TURN_MS = 5_000;
/** When no hand-off of a turn has ended for so long, others may have its job: its lanes go on without. */
const STALL_MS = 250;
/** When the lanes that pages can make slow hang for so long, email of servers goes without words of pages. */
export const HANG_MS = 10_000;
/** Whose turn it is, which worker takes it until when, and who does what a bounce calls for. */
export type Turning = {
  projectId: string;
  providerId: string;
  owner: string;
  signal: AbortSignal;
  takeBounce: TakeBounce;
};

/** A turn begins with little, and takes more as long as the provider keeps up. */
const CLAIM_SENDS_FIRST = 20;

/** Adds each send with the moment from which the rate lets it start; gives back what does not become a message. */
const addAll = async (turning: Turning, turn: ProviderTurn, taken: Taken): Promise<void> => {
  const { context } = turn;
  const { allowance, claimed, ready } = taken;
  const { isProbe } = allowance;
  const back = (sends: readonly Claimed[]) => sends.map((send) => ({ send, isProbe }));
  const startsAt = performance.now() + allowance.startsInMs;
  try {
    const isBare = allowance.isBare || turn.hangsForMs >= HANG_MS;
    const batch = { projectId: turning.projectId, owner: turning.owner, ready, claimed, isBare };
    const { built, ended, left } = await prepareSends(context.deps, batch);
    turn.add(
      built.map((one): Prepared => ({ ...one, ready, isProbe })),
      (at) => startsAt + at * allowance.everyMs,
    );
    await giveBack(context, ended.length, isProbe && ended.length > 0);
    await release(context, back(left));
  } catch (error) {
    await release(context, back(claimed));
    throw error;
  }
};

/** What a claim of all kinds takes at most: nothing that pages caused while their lanes hang, or enough of it waits. */
const allOf = (turn: ProviderTurn) => {
  const { claimMax } = turn.context.health;
  const isEnough = turn.waits.ofPages && turn.waitingCount > WAITING_SENDS_LOW;
  const pagesMax = turn.arePagesHanging || isEnough ? 0 : claimMax;
  return { sendsMax: claimMax, marketingMax: claimMax, pagesMax };
};

/** The same of email that overtakes: transactional overtakes the rest, and other email overtakes that of pages. */
const overtakingOf = ({ waits, arePagesHanging }: ProviderTurn) => ({
  sendsMax: OVERTAKING_SENDS_MAX,
  marketingMax: waits.others ? 0 : OVERTAKING_SENDS_MAX,
  pagesMax: waits.ofPages || arePagesHanging ? 0 : OVERTAKING_SENDS_MAX,
});

/**
 * Claims once and adds what was claimed: all kinds of email, or only what overtakes the rest. Returns whether to claim
 * again: at once, or only after a hint.
 */
const fillOnce = async (
  turning: Turning,
  turn: ProviderTurn,
  kind: 'all' | 'overtaking',
): Promise<'more' | 'done'> => {
  turn.mayOvertake = false;
  const { deps, health } = turn.context;
  const { projectId, providerId, owner } = turning;
  const most = kind === 'all' ? allOf(turn) : overtakingOf(turn);
  const taken = await takeSends(deps, projectId, { providerId, owner, ...most });
  if (!taken) return 'done';
  const { allowance, claimed } = taken;
  if (claimed.length > 0) {
    health.isStopped = false;
    health.failures = allowance.failures;
    health.isPaced = allowance.everyMs > 0;
    if (allowance.refusals) {
      turn.context.streak.continue(allowance.refusals);
      health.isRefusing = true;
    }
    await addAll(turning, turn, taken);
  }
  const isLimited = providers.isReached(allowance, claimed.length) && allowance.limitedBy !== null;
  if (isLimited && allowance.wakesInMs !== null && allowance.limitedBy !== 'ramp') {
    wakeAfter(turn.context, allowance.wakesInMs);
    return 'done';
  }
  return taken.isMore ? 'more' : 'done';
};

/**
 * Leaves a turn whose provider does not keep up. What waits for a lane is released, and claimed again when one is
 * free: messages of a relay that hangs would only fill the memory. Under a rate waiting is as it should be.
 */
const leave = async (turn: ProviderTurn): Promise<boolean> => {
  const { context } = turn;
  const isOfPages = turn.noteStall();
  turn.isLeft = turn.waitingCount > 0;
  context.health.claimMax = isOfPages
    ? Math.max(1, turn.lanesMax - lanesOfPages(turn.lanesMax))
    : providers.LINKS_PER_PROVIDER_MAX;
  if (isOfPages || !context.health.isPaced) await release(context, turn.drain());
  return false;
};

/**
 * Releases what waits only for lanes that pages may make slow, where those are known to hang: it would wait for as long
 * as its lease. Released, it is claimed again, and rendered without words of pages once they hang for `HANG_MS`.
 */
const releaseHanging = async (turn: ProviderTurn): Promise<void> => {
  if (turn.arePagesHanging && turn.noteStall()) await release(turn.context, turn.drain());
};

/** Others wait for its place: its lanes go on with what they have, and it comes again when they have done that. */
const makeRoom = async (turn: ProviderTurn, found: 'more' | 'done'): Promise<boolean> => {
  turn.isLeft = found === 'more' || turn.waitingCount > 0;
  await releaseHanging(turn);
  return turn.isLeft && turn.isIdle;
};

/** A turn asks for email that overtakes at most so often, however many hints come. */
const OVERTAKE_MS = 200;

/** Waits for something, and meanwhile claims what overtakes the email that waits. Returns false where nothing ends. */
const overtakeUntil = async (
  turning: Turning,
  turn: ProviderTurn,
  { isSo, leftMs }: { isSo: () => boolean; leftMs: () => number },
): Promise<boolean> => {
  let notBefore = performance.now() + OVERTAKE_MS;
  const mayOvertake = () =>
    turn.mayOvertake && turn.urgentCount === 0 && performance.now() >= notBefore;
  for (;;) {
    const isEither = () => isSo() || mayOvertake();
    if (!(await turn.whileItGoesOn(isEither, leftMs(), STALL_MS))) return false;
    if (isSo()) return true;
    notBefore = performance.now() + OVERTAKE_MS;
    await fillOnce(turning, turn, 'overtaking');
  }
};

/** Claims and adds while there is more and lanes are not behind. Answers whether more may be due. */
const fill = async (
  turning: Turning,
  turn: ProviderTurn,
  isWanted: () => boolean,
): Promise<boolean> => {
  const { health } = turn.context;
  const endsAt = performance.now() + TURN_MS;
  const leftMs = () => endsAt - performance.now();
  for (let sends = 0; sends < TURN_SENDS_MAX && leftMs() > 0; sends += CLAIM_SENDS_MAX) {
    if (turning.signal.aborted) return false;
    turn.isAskedAgain = false;
    const found = await fillOnce(turning, turn, 'all');
    const isLow = () =>
      turn.isIdle ||
      ((found === 'more' || turn.isAskedAgain) && turn.waitingCount <= WAITING_SENDS_LOW);
    const goesOn = await overtakeUntil(turning, turn, {
      isSo: () => isLow() || isWanted(),
      leftMs,
    });
    if (!goesOn) return leave(turn);
    if (isWanted()) return makeRoom(turn, found);
    health.claimMax = Math.min(CLAIM_SENDS_MAX, 2 * health.claimMax);
    if (found === 'done' && !turn.isAskedAgain) return false;
  }
  const isOver = () => turn.isIdle || isWanted();
  if (!(await turn.whileItGoesOn(isOver, leftMs(), STALL_MS))) await leave(turn);
  else await releaseHanging(turn);
  return true;
};

const failIfAny = (errors: readonly unknown[]): void => {
  if (errors.length > 0) throw new AggregateError(errors, 'some sends could not be handed over');
};

const openTurn = (deps: Deps, turning: Turning): ProviderTurn => {
  const { projectId, providerId, owner, signal, takeBounce } = turning;
  const health = {
    failures: 0,
    acceptedCount: 0,
    isRefusing: false,
    startedAt: performance.now(),
    isStopped: false,
    isPaced: false,
    claimMax: CLAIM_SENDS_FIRST,
  };
  const log = new HandOffLog(deps, projectId, takeBounce);
  const streak = new RefusalStreak();
  const context: LaneContext = { deps, projectId, providerId, owner, signal, log, streak, health };
  return new Turn(context, providers.LINKS_PER_PROVIDER_MAX, handOverNext, {
    isUrgent: ({ send }) => send.category === 'transactional',
    isOfPage: ({ send }) => send.is_of_page,
    mayHang: ({ send, showsAsserted }) => send.is_of_page || showsAsserted,
    signal,
  });
};

/**
 * A turn of a provider: lease what is due, render it, hand it over. Answers whether more may be due.
 * Finds a turn that runs already, it adds to that and is done. With no place for another provider it
 * does nothing, and is hinted at once there is one. Safe to run twice or at once: each hand-off is
 * decided by a compare-and-set of its row.
 */
export const sendQueued = async (deps: Deps, turning: Turning): Promise<boolean> => {
  const turns = deps.resources.of(makeTurns, deps);
  const isMore = await turns.feed(turning.providerId, {
    makeTurn: () => openTurn(deps, turning),
    remind: () => void hint(deps, sendHint(turning.projectId, turning.providerId)),
    feed: async (turn, isWanted) => {
      try {
        return await fill(turning, turn, isWanted);
      } finally {
        if (turning.signal.aborted) {
          await release(turn.context, turn.drain());
          await turn.when(() => turn.isIdle, Infinity);
        }
        failIfAny(turn.takeErrors());
      }
    },
  });
  return isMore ?? false;
};
