// Records what the outcome of a hand-off says about its provider, and stops the turn where that has to wait.
import { assertNever } from '../base/assert_never.ts';
import { hint } from '../base/hints.ts';
import * as providers from '../providers/providers.ts';
import type { SendOutcome } from '../providers/providers.ts';
import { hintOf } from './hand_off.ts';
import type { Prepared } from './hand_off.ts';
import { giveBack, stop, within } from './lane_context.ts';
import type { LaneContext, ProviderTurn } from './lane_context.ts';
import { makesSuspectWords } from './refusal_streak.ts';
import { sendHint } from './send_hint.ts';

/** How long a provider that throttled is paused when it does not say so itself. */
const THROTTLED_PAUSE_SECONDS = 2;

/**
 * A turn that has handed over fewer says how much there was to do, and nothing of what the provider takes: it is
 * taken to bear one a second for each lane.
 */
const TELLING_SENDS = 10;

const usedBy = ({ ready }: Prepared): providers.Used => ready;

/** What a log line about the provider of a turn names. */
const logged = ({ projectId, providerId }: LaneContext, told: object) => ({
  project_id: projectId,
  provider_id: providerId,
  ...told,
});

type Answered = { item: Prepared; reason: string; answer: providers.AccountAnswer | null };

/** Parks a provider that takes nothing until a person changes something. */
const notePark = async (
  context: LaneContext,
  turn: ProviderTurn,
  { item, reason, answer }: Answered,
) => {
  const isParked = await within(context, (scope) =>
    providers.park(scope, usedBy(item), reason, answer),
  );
  if (isParked) context.deps.log.error(logged(context, { reason }), 'provider parked');
  // A record that was saved meanwhile has other settings, which the next turn uses.
  return stop(context, turn, isParked ? null : 0);
};

type Noted = { item: Prepared; reason: string };

const noteFailure = async (context: LaneContext, turn: ProviderTurn, { item, reason }: Noted) => {
  const { health, deps } = context;
  health.failures += 1;
  const { isProbe } = item;
  const openMs = await within(context, (scope) =>
    providers.noteFailure(scope, usedBy(item), { isProbe }),
  );
  if (openMs === null) return undefined;
  deps.log.warn(logged(context, { reason, open_ms: openMs }), 'circuit of a provider opened');
  return stop(context, turn, openMs);
};

/** Holds a provider that takes nothing of this account: the queue waits, and one send probes it. */
const noteHeld = async (
  context: LaneContext,
  turn: ProviderTurn,
  { item, ...refused }: Answered & { retryAfterSeconds: number | undefined },
) => {
  const { health, deps } = context;
  health.failures += 1;
  const held = { ...refused, isProbe: item.isProbe };
  const heldMs = await within(context, (scope) => providers.noteHeld(scope, usedBy(item), held));
  if (heldMs !== null)
    deps.log.error(logged(context, { reason: held.reason, held_ms: heldMs }), 'provider held');
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
  await within(context, (scope) => providers.noteThrottled(scope, usedBy(item), observed, pauseMs));
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

/** Records what is known of refusals in a row, which other turns continue. */
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
  const answer = providers.toAccountAnswer(outcome.reply);
  switch (waits) {
    case 'send':
      return noteRefused(context, item);
    case 'connection':
      return noteCrowded(context, turn, { item, reason });
    case 'provider':
      return noteFailure(context, turn, { item, reason });
    case 'rate':
      return noteThrottled(context, turn, { item, outcome });
    case 'hold':
      return noteHeld(context, turn, { item, reason, answer, retryAfterSeconds });
    case 'park':
      return notePark(context, turn, { item, reason, answer });
    default:
      return assertNever(waits);
  }
};

/** Words of pages may be the cause: email that no page caused goes without them for a time. */
const noteWords = async (context: LaneContext, turn: ProviderTurn, item: Prepared) => {
  const isNew = await within(context, (scope) => providers.noteWords(scope, usedBy(item)));
  if (!isNew) return;
  context.deps.log.warn(logged(context, {}), 'words of pages are left out for a time');
  // What waits was rendered with them.
  await stop(context, turn, 0);
};

/**
 * Whether it is a silence after a message that a page chose, or that shows words of a page. It says nothing of the
 * provider: a connection was open, and other sends find out whether the provider is well.
 */
const isSilence = ({ send, showsAsserted }: Prepared, outcome: SendOutcome): boolean =>
  outcome.kind === 'unknown'
    ? send.is_of_page || showsAsserted
    : send.is_of_page &&
      outcome.kind === 'deferred' &&
      outcome.waits === 'send' &&
      outcome.reply === undefined;

/** Records what an answer says of the provider, whatever it says of the message. */
export const noteOutcome = async (
  context: LaneContext,
  turn: ProviderTurn,
  { item, outcome }: { item: Prepared; outcome: SendOutcome },
) => {
  const { showsAsserted } = item;
  if (makesSuspectWords(outcome, { showsAsserted, isOfPage: item.send.is_of_page }))
    await noteWords(context, turn, item);
  if (isSilence(item, outcome))
    return item.isProbe
      ? noteFailure(context, turn, { item, reason: 'outcome_unknown' })
      : Promise.resolve();
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
