import { setTimeout as wait } from 'node:timers/promises';
import type { Deps } from '../base/deps.ts';
import { failpoint } from '../base/failpoint.ts';
import { withLink } from '../providers/providers.ts';
import type { Ready, SendOutcome, Link } from '../providers/providers.ts';
import { messageIdOf } from './message.ts';
import { beginHandOff, recordOutcome } from './queries.ts';
import type { Claimed, OutcomeRow } from './queries.ts';
import { retryAfterSeconds } from './retry.ts';

/** How long after its commit a hand-off may put its first byte on the wire. */
export const HAND_OFF_DEADLINE_MS = 5_000;

export type Prepared = { send: Claimed; raw: Buffer };
export type HandOffContext = {
  deps: Deps;
  projectId: string;
  owner: string;
  ready: Ready;
  /** Aborted when the worker stops: what was not begun is given back. */
  signal: AbortSignal;
};

const reasonOf = (outcome: SendOutcome): string | null => {
  if ('reason' in outcome) return outcome.reason;
  if (outcome.kind === 'unknown') return 'outcome_unknown';
  return outcome.kind === 'not_started' ? 'too_slow' : null;
};

const toRow = ({ send_id, attempt }: Claimed, outcome: SendOutcome): OutcomeRow => ({
  sendId: send_id,
  attempt,
  outcome: outcome.kind,
  reason: reasonOf(outcome),
  providerMessageId: outcome.kind === 'accepted' ? outcome.providerMessageId : null,
  retryAfterSeconds:
    outcome.kind === 'deferred' || outcome.kind === 'not_started'
      ? retryAfterSeconds(attempt)
      : null,
});

/** What an attempt came to is known here only: writing it is tried until nobody would believe it any more. */
const OUTCOME_TRIES_MS = [100, 500, 2_000, 5_000, 10_000, 15_000, 20_000, 30_000];

const keepOutcome = async ({ deps, projectId }: HandOffContext, row: OutcomeRow): Promise<void> => {
  for (const waitMs of OUTCOME_TRIES_MS) {
    try {
      await recordOutcome(deps.db, projectId, row);
      return;
    } catch (error) {
      deps.log.warn({ err: error, send_id: row.sendId }, 'outcome not written; trying again');
      await wait(waitMs);
    }
  }
  await recordOutcome(deps.db, projectId, row);
};

/** Commits that we begin. When that fails, whether it was committed is unknown, but not that nothing was sent. */
const begin = async (context: HandOffContext, { send }: Prepared, messageId: string) => {
  const { deps, projectId, owner } = context;
  try {
    return await beginHandOff(deps.db, projectId, {
      sendId: send.send_id,
      addressKey: send.address_key,
      owner,
      attempt: send.attempt,
      messageId,
    });
  } catch (error) {
    await keepOutcome(context, toRow(send, { kind: 'not_started' }));
    throw error;
  }
};

/**
 * Gives one message to the provider over an open connection: commit that we begin, look at the
 * clock, send, commit what became of it. Between the two commits a crash leaves the send in
 * handing_off, which the sweeper turns into unknown; nothing is ever sent on the strength of memory.
 */
const handOver = async (context: HandOffContext, prepared: Prepared, link: Link): Promise<null> => {
  const { send, raw } = prepared;
  const { sender } = context.ready;
  // Taken before the commit: a process frozen in between must find its deadline passed.
  const deadline = performance.now() + HAND_OFF_DEADLINE_MS;
  const messageId = messageIdOf({ sendId: send.send_id, attempt: send.attempt, sender });

  failpoint('before_hand_off_commit');
  const decision = await begin(context, prepared, messageId);
  if (decision !== 'handing_off') return null;
  failpoint('after_hand_off_commit');

  const outcome = await link.send({
    sendId: send.send_id,
    from: sender.from_email,
    to: send.recipient,
    raw,
    mayStart: () => performance.now() < deadline,
  });
  failpoint('after_provider_answer');
  await keepOutcome(context, toRow(send, outcome));
  failpoint('after_outcome_commit');
  return null;
};

/** Hands one prepared send to its provider. Answers why the provider could not be reached, or null. */
export const handOff = (context: HandOffContext, prepared: Prepared): Promise<SendOutcome | null> =>
  withLink(context.deps, context.ready, (link) => handOver(context, prepared, link));
