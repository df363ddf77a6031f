import { setTimeout as wait } from 'node:timers/promises';
import { assertNever } from '../base/assert_never.ts';
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
    /** Whether refusals in a row are recorded, which an acceptance ends. */
    isRefusing: boolean;
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

const usedBy = ({ ready }: Prepared): providers.Used => ready;

/** Parks a provider that takes nothing until a person changes something. */
const notePark = async (
  context: LaneContext,
  turn: ProviderTurn,
  { item, reason }: { item: Prepared; reason: string },
) => {
  const { deps, projectId: project_id, providerId: provider_id } = context;
  const isParked = await within(context, (scope) => providers.park(scope, usedBy(item), reason));
  if (isParked) deps.log.error({ project_id, provider_id, reason }, 'provider parked');
  // A record that was saved meanwhile has other settings, which the next turn uses.
  return stop(context, turn, isParked ? null : 0);
};

type Noted = { item: Prepared; reason: string };

const noteFailure = async (context: LaneContext, turn: ProviderTurn, { item, reason }: Noted) => {
  const { health, providerId, deps, projectId } = context;
  health.failures += 1;
  const { isProbe } = item;
  const openMs = await within(context, (scope) =>
    providers.noteFailure(scope, usedBy(item), { isProbe }),
  );
  if (openMs === null) return undefined;
  const told = { project_id: projectId, provider_id: providerId, reason, open_ms: openMs };
  deps.log.warn(told, 'circuit of a provider opened');
  return stop(context, turn, openMs);
};

/** Holds a provider that takes nothing of this account: the queue waits, and one send probes it. */
const noteHeld = async (
  context: LaneContext,
  turn: ProviderTurn,
  { item, reason, retryAfterSeconds }: Noted & { retryAfterSeconds: number | undefined },
) => {
  const { health, providerId, deps, projectId } = context;
  health.failures += 1;
  const held = { reason, retryAfterSeconds, isProbe: item.isProbe };
  const heldMs = await within(context, (scope) => providers.noteHeld(scope, usedBy(item), held));
  const told = { project_id: projectId, provider_id: providerId, reason, held_ms: heldMs };
  deps.log.error(told, 'provider held');
  return stop(context, turn, heldMs ?? 0);
};

const noteThrottled = async (
  context: LaneContext,
  turn: ProviderTurn,
  { item, outcome }: { item: Prepared; outcome: SendOutcome },
) => {
  const { health } = context;
  const pauseMs = (hintOf(outcome) ?? THROTTLED_PAUSE_SECONDS) * 1_000;
  const seconds = Math.max(1, (performance.now() - health.startedAt) / 1_000);
  const isTelling = health.acceptedCount >= TELLING_SENDS;
  const observed = isTelling ? health.acceptedCount / seconds : providers.LINKS_PER_PROVIDER_MAX;
  await within(context, (scope) =>
    providers.noteThrottled(scope, usedBy(item), observed, pauseMs),
  );
  return stop(context, turn, pauseMs);
};

/** Uses fewer connections at a time. A provider that refuses the only one fails. */
const noteCrowded = (context: LaneContext, turn: ProviderTurn, noted: Noted) => {
  if (turn.lanesMax === 1) return noteFailure(context, turn, noted);
  turn.limitLanes(Math.floor(turn.lanesMax / 2));
  return Promise.resolve();
};

/** Records that the provider took a message, where anything before said otherwise. */
const noteSuccess = async (context: LaneContext): Promise<void> => {
  const { deps, health, projectId, providerId } = context;
  health.acceptedCount += 1;
  if (health.failures === 0 && !health.isRefusing) return;
  const isHinted = health.failures > 0;
  health.failures = 0;
  health.isRefusing = false;
  await within(context, (scope) => providers.noteSuccess(scope, providerId));
  if (isHinted) await hint(deps, sendHint(projectId, providerId));
};

/** Records that the provider answered about one send: what failed before is over, but for a hold of the account. */
const noteAnswered = async (context: LaneContext, { isProbe }: Prepared): Promise<void> => {
  const { deps, health, projectId, providerId } = context;
  if (health.failures === 0) return;
  const isClosed = await within(context, (scope) => providers.noteAnswered(scope, providerId));
  if (isClosed) health.failures = 0;
  // Another send probes a provider that is held.
  await giveBack(context, 0, isProbe);
  await hint(deps, sendHint(projectId, providerId));
};

const noteRefused = async (context: LaneContext, item: Prepared): Promise<void> => {
  const { refusals } = context.streak;
  if (refusals) {
    context.health.isRefusing = true;
    await within(context, (scope) => providers.noteRefusals(scope, usedBy(item), refusals));
  }
  return noteAnswered(context, item);
};

const noteDeferred = (
  context: LaneContext,
  turn: ProviderTurn,
  { item, outcome }: { item: Prepared; outcome: SendOutcome & { kind: 'deferred' } },
) => {
  const { reason, waits, retryAfterSeconds } = outcome;
  switch (waits) {
    case 'send':
      return noteAnswered(context, item);
    case 'connection':
      return noteCrowded(context, turn, { item, reason });
    case 'provider':
      return noteFailure(context, turn, { item, reason });
    case 'rate':
      return noteThrottled(context, turn, { item, outcome });
    case 'hold':
      return noteHeld(context, turn, { item, reason, retryAfterSeconds });
    case 'park':
      return notePark(context, turn, { item, reason });
    default:
      return assertNever(waits);
  }
};

/** Records what an answer says of the provider, whatever it says of the message. */
const noteOutcome = (
  context: LaneContext,
  turn: ProviderTurn,
  { item, outcome }: { item: Prepared; outcome: SendOutcome },
) => {
  switch (outcome.kind) {
    case 'accepted':
      return noteSuccess(context);
    case 'unknown':
      return noteFailure(context, turn, { item, reason: 'outcome_unknown' });
    case 'not_started':
      return noteFailure(context, turn, { item, reason: 'too_slow' });
    case 'rejected':
      return noteRefused(context, item);
    case 'deferred':
      return noteDeferred(context, turn, { item, outcome });
    default:
      return assertNever(outcome);
  }
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
  return noteOutcome(context, turn, { item, outcome: handed.outcome });
};
