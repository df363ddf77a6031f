import { setTimeout as wait } from 'node:timers/promises';
import { inProject } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { hint } from '../base/hints.ts';
import * as providers from '../providers/providers.ts';
import type { SendOutcome } from '../providers/providers.ts';
import { giveBackShare } from './give_back.ts';
import { handOff, hintOf } from './hand_off.ts';
import type { HandOffContext, Prepared } from './hand_off.ts';
import { postponeSend, releaseLeases } from './queries.ts';
import { retryAfterSeconds } from './retry.ts';
import { sendHint } from './send_hint.ts';
import { makeAlarms } from './alarms.ts';
import type { Turn } from './turn.ts';

/** How long a provider that throttled is left alone when it does not say so itself. */
const THROTTLED_PAUSE_SECONDS = 2;

/**
 * A turn that has handed over fewer says how much there was to do, and nothing of what the provider takes: it is
 * taken to bear one a second for each lane.
 */
const TELLING_SENDS = 10;

/** The provider wants less, or nothing for as long as it says: not its failure. */
const PAUSE_REASONS: readonly string[] = ['throttled', 'quota_exhausted'];

export type LaneContext = HandOffContext & {
  projectId: string;
  providerId: string;
  /** Aborted when the worker stops: what was not begun is given back. */
  signal: AbortSignal;
  /** What this turn knows of the provider. */
  health: {
    failures: number;
    acceptedCount: number;
    startedAt: number;
    isStopped: boolean;
    /** Whether a rate says when each may start. */
    isPaced: boolean;
    /** How many the next claim takes. */
    claimMax: number;
  };
};

export type ProviderTurn = Turn<Prepared, LaneContext>;

const within = <T>({ deps, projectId }: LaneContext, work: (scope: Scope) => Promise<T>) =>
  inProject(deps, projectId, work);

/** Hints at the provider's sends once its time has come. */
export const wakeAfter = (
  { deps, projectId, providerId }: Pick<LaneContext, 'deps' | 'projectId' | 'providerId'>,
  ms: number,
): void => {
  const alarms = deps.resources.of(makeAlarms, deps);
  alarms.set(providerId, ms, () => void hint(deps, sendHint(projectId, providerId)));
};

/** Gives back what the provider allowed for sends that were not handed over; a probe is somebody else's at once. */
export const giveBack = async (
  context: LaneContext,
  sends: number,
  isProbe: boolean,
): Promise<void> => {
  if (sends === 0 && !isProbe) return;
  const { providerId } = context;
  const isRoomMade = await within(context, (scope) =>
    giveBackShare(scope, providerId, { sends, isProbe }),
  );
  if (isProbe || isRoomMade) wakeAfter(context, 0);
};

/**
 * Gives back what was leased and not begun, with what the provider allowed for it. Nothing for leases that are no
 * longer ours: whoever found us dead has given that back, and the day's ramp would be overrun.
 */
export const release = async (
  context: LaneContext,
  items: readonly Pick<Prepared, 'send' | 'isProbe'>[],
): Promise<void> => {
  if (items.length === 0) return;
  const ids = items.map(({ send }) => send.send_id);
  const released = await within(context, (scope) => releaseLeases(scope, ids, context.owner));
  const isProbe = items.some((item) => item.isProbe);
  await giveBack(context, released, isProbe);
};

/** Puts a send back that could not be given to anybody: it waits for its next try. */
const postpone = async (
  context: LaneContext,
  { send }: Prepared,
  reason: string,
): Promise<void> => {
  const post = { reason, retryAfterSeconds: retryAfterSeconds(send.attempt) };
  const postponed = await within(context, (scope) =>
    postponeSend(scope, send.send_id, context.owner, post),
  );
  // What it found out of the provider counts as the probe's answer.
  await giveBack(context, postponed, false);
};

/** Nothing more of this turn goes to the provider: what waits is given back. */
const stop = async (context: LaneContext, turn: ProviderTurn, wakeMs: number | null) => {
  context.health.isStopped = true;
  await release(context, turn.drain());
  if (wakeMs !== null) wakeAfter(context, wakeMs);
};

/** Wrong credentials and certificates do not mend themselves: nobody tries again until the record is saved. */
const park = async (context: LaneContext, reason: string): Promise<void> => {
  const { deps, projectId: project_id, providerId: provider_id } = context;
  await within(context, (scope) => providers.park(scope, provider_id, reason));
  deps.log.error({ project_id, provider_id, reason }, 'provider parked');
};

const noteHopeless = async (context: LaneContext, turn: ProviderTurn, reason: string) => {
  await park(context, reason);
  return stop(context, turn, null);
};

const noteFailure = async (
  context: LaneContext,
  turn: ProviderTurn,
  reason: string,
  isProbe: boolean,
) => {
  const { health, providerId, deps, projectId } = context;
  health.failures += 1;
  const openMs = await within(context, (scope) =>
    providers.noteFailure(scope, providerId, { isProbe }),
  );
  if (openMs === null) return undefined;
  const told = { project_id: projectId, provider_id: providerId, reason, open_ms: openMs };
  deps.log.warn(told, 'circuit of a provider opened');
  return stop(context, turn, openMs);
};

const noteThrottled = async (context: LaneContext, turn: ProviderTurn, outcome: SendOutcome) => {
  const { health, providerId } = context;
  const pauseMs = (hintOf(outcome) ?? THROTTLED_PAUSE_SECONDS) * 1_000;
  const seconds = Math.max(1, (performance.now() - health.startedAt) / 1_000);
  const isTelling = health.acceptedCount >= TELLING_SENDS;
  const observed = isTelling ? health.acceptedCount / seconds : providers.LINKS_PER_PROVIDER_MAX;
  await within(context, (scope) => providers.noteThrottled(scope, providerId, observed, pauseMs));
  return stop(context, turn, pauseMs);
};

const noteSuccess = async (context: LaneContext): Promise<void> => {
  const { deps, health, projectId, providerId } = context;
  if (health.failures === 0) return;
  health.failures = 0;
  await within(context, (scope) => providers.noteSuccess(scope, providerId));
  await hint(deps, sendHint(projectId, providerId));
};

/** What an answer says of the provider, whatever it says of the message. */
const noteOutcome = (
  context: LaneContext,
  turn: ProviderTurn,
  { outcome, isProbe, attempt }: { outcome: SendOutcome; isProbe: boolean; attempt: number },
) => {
  const fail = (reason: string) => noteFailure(context, turn, reason, isProbe);
  if (outcome.kind === 'accepted') context.health.acceptedCount += 1;
  if (outcome.kind === 'unknown') return fail('outcome_unknown');
  if (outcome.kind === 'not_started') return fail('too_slow');
  if (outcome.kind === 'deferred') {
    if (providers.isHopeless(outcome)) return noteHopeless(context, turn, outcome.reason);
    if (PAUSE_REASONS.includes(outcome.reason)) return noteThrottled(context, turn, outcome);
    // Said again of the same recipient it tells nothing new.
    if (outcome.isOfOne && attempt > 1 && !isProbe) return undefined;
    if (outcome.reason !== 'recipient_refused') return fail(outcome.reason);
  }
  if (outcome.kind === 'rejected' && providers.SENDER_REASONS.includes(outcome.reason))
    return fail(outcome.reason);
  return noteSuccess(context);
};

const reasonOf = (outcome: SendOutcome): string =>
  'reason' in outcome ? outcome.reason : 'connection_failed';

/** Hands over one send when its time has come, and passes on what that says of the provider. */
export const handOverNext = async (item: Prepared, turn: ProviderTurn): Promise<void> => {
  const { context } = turn;
  const { signal, health } = context;
  const earlyMs = item.startsAt - performance.now();
  if (earlyMs > 0) await wait(earlyMs, undefined, { signal }).catch(() => {});
  if (signal.aborted || health.isStopped) return release(context, [item, ...turn.drain()]);
  const handed = await handOff(context, item);
  // Written together with the next that begins.
  if ('written' in handed) turn.track(handed.written);
  if (handed.kind === 'not_begun' || handed.kind === 'held_up')
    return giveBack(context, 1, item.isProbe);
  if (handed.kind === 'unreachable') await postpone(context, item, reasonOf(handed.outcome));
  const { isProbe, send } = item;
  return noteOutcome(context, turn, { outcome: handed.outcome, isProbe, attempt: send.attempt });
};
