import type { Deps } from '../base/deps.ts';
import { failpoint } from '../base/failpoint.ts';
import { toStorable } from '../base/text.ts';
import { traceHeader, traceIdOf } from '../base/traceparent.ts';
import {
  envelopeSenderOf,
  HAND_OFF_DEADLINE_MS,
  serviceOf,
  withLink,
} from '../providers/providers.ts';
import type { Link, Ready, Reply, SendOutcome } from '../providers/providers.ts';
import type { HandOffLog } from './hand_off_log.ts';
import { messageIdOf } from './message.ts';
import type { OutcomeRow } from './hand_off_queries.ts';
import type { Built } from './prepare.ts';
import type { Claimed } from './claim_queries.ts';
import type { RefusalStreak } from './refusal_streak.ts';
import { RESEND_AFTER_SECONDS, retryAfterSeconds } from './retry.ts';

/** A send ready to be handed over. */
export type Prepared = Built & {
  ready: Ready;
  /** Whether it finds out if a provider that failed is well again. */
  isProbe: boolean;
};

export type HandOffContext = {
  deps: Deps;
  owner: string;
  log: HandOffLog;
  /** The provider's refusals in a row. */
  streak: RefusalStreak;
};

/** What became of a send that was to be handed over. */
export type HandedOff =
  /** Nothing was committed: there was no connection to be had. */
  | { kind: 'unreachable'; outcome: SendOutcome }
  /** It must not be handed over, or not yet, or somebody else does. */
  | { kind: 'not_begun' }
  /** Handed over; `written` resolves when the outcome is committed. */
  | { kind: 'ended'; outcome: SendOutcome; written: Promise<void> }
  /** It was not begun in time, of which our own commit took the most: that says nothing of the provider. */
  | { kind: 'held_up'; written: Promise<void> };

const reasonOf = (outcome: SendOutcome): string | null => {
  if ('reason' in outcome) return outcome.reason;
  if (outcome.kind === 'unknown') return 'outcome_unknown';
  return outcome.kind === 'not_started' ? 'too_slow' : null;
};

/** The provider's own word on when to come back, where it gave one. */
export const hintOf = (outcome: SendOutcome): number | null =>
  'retryAfterSeconds' in outcome ? (outcome.retryAfterSeconds ?? null) : null;

const waitOf = (attempt: number, outcome: SendOutcome): number | null => {
  if (outcome.kind === 'unknown') return RESEND_AFTER_SECONDS;
  if (outcome.kind !== 'deferred' && outcome.kind !== 'not_started') return null;
  return retryAfterSeconds(attempt, Math.random(), hintOf(outcome));
};

/** An id that cannot be stored as it is must not keep what it is the outcome of from being written. */
const toKept = (id: string | null): string | null => id && toStorable(id);

/** The same of an answer: it comes from another system. */
const toKeptReply = ({ code, ...texts }: Reply): Reply => ({
  code,
  enhanced: toKept(texts.enhanced),
  text: toKept(texts.text),
  queueId: toKept(texts.queueId),
});

const toRow = ({ send_id, attempt, traceparent }: Claimed, outcome: SendOutcome): OutcomeRow => ({
  sendId: send_id,
  traceId: traceIdOf(traceparent),
  attempt,
  outcome: outcome.kind,
  reason: reasonOf(outcome),
  providerMessageId: toKept(outcome.kind === 'accepted' ? outcome.providerMessageId : null),
  retryAfterSeconds: waitOf(attempt, outcome),
  ...('reply' in outcome ? { reply: toKeptReply(outcome.reply) } : {}),
});

/** Commits that we begin. When that fails, whether it was committed is unknown, but not that nothing was sent. */
const begin = async ({ log, owner }: HandOffContext, prepared: Prepared, messageId: string) => {
  const { send, subject, ready } = prepared;
  const { send_id: sendId, address_key: addressKey, attempt } = send;
  const sentThrough = serviceOf(ready.settings);
  try {
    const row = { sendId, addressKey, owner, attempt, messageId, subject, sentThrough };
    return await log.begin(row);
  } catch (error) {
    await log.end(toRow(send, { kind: 'not_started' }));
    throw error;
  }
};

/** Commits what became of an attempt, and what a bounce calls for with it. */
const writeOutcome = (
  { log }: HandOffContext,
  { send, ready }: Prepared,
  outcome: SendOutcome,
): Promise<void> => {
  const row = toRow(send, outcome);
  const said = outcome.kind === 'rejected' ? outcome.bounce : undefined;
  if (said === undefined) return log.end(row);
  const { send_id: sendId, attempt, recipient: email } = send;
  const { provider } = ready.settings;
  return log.endBounced(row, { sendId, attempt, email, provider, ...said });
};

/**
 * Gives one message to the provider over an open connection: commit that we begin, look at the
 * clock, send, commit what became of it. Between the two commits a crash leaves the send in
 * handing_off, which the sweeper turns into unknown; nothing is ever sent on the strength of memory.
 */
const handOver = async (
  context: HandOffContext,
  prepared: Prepared,
  link: Link,
): Promise<Exclude<HandedOff, { kind: 'unreachable' }>> => {
  const { send, raw, ready } = prepared;
  const { sender } = ready;
  // Taken before the commit: a process frozen in between must find its deadline passed.
  const askedAt = performance.now();
  const deadline = askedAt + HAND_OFF_DEADLINE_MS;
  const messageId = messageIdOf({ sendId: send.send_id, attempt: send.attempt, sender });

  failpoint('before_hand_off_commit');
  const decision = await begin(context, prepared, messageId);
  failpoint(decision === 'handing_off' ? 'after_hand_off_commit' : 'after_not_begun');
  if (decision !== 'handing_off') return { kind: 'not_begun' };
  const wasSlow = performance.now() - askedAt > HAND_OFF_DEADLINE_MS / 2;

  const answered = await link.send({
    sendId: send.send_id,
    from: envelopeSenderOf(context.deps.keys, ready, send.send_id),
    to: send.recipient,
    raw,
    trace: traceHeader(send.traceparent),
    mayStart: () => performance.now() < deadline,
  });
  failpoint('after_provider_answer');
  const outcome = context.streak.judge(answered, {
    recipient: send.address_key.toString('hex'),
    isUnconfirmed: send.is_unconfirmed,
    isOfPage: send.is_of_page,
    showsAsserted: prepared.showsAsserted,
  });
  const written = writeOutcome(context, prepared, outcome).then(() =>
    failpoint('after_outcome_commit'),
  );
  return outcome.kind === 'not_started' && wasSlow
    ? { kind: 'held_up', written }
    : { kind: 'ended', outcome, written };
};

/** Hands one prepared send to its provider. */
export const handOff = async (context: HandOffContext, prepared: Prepared): Promise<HandedOff> => {
  const answer = await withLink(context.deps, prepared.ready, (link) =>
    handOver(context, prepared, link),
  );
  return answer.kind === 'ended' || answer.kind === 'held_up' || answer.kind === 'not_begun'
    ? answer
    : { kind: 'unreachable', outcome: answer };
};
