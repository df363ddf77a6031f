import type { Deps } from '../base/deps.ts';
import { failpoint } from '../base/failpoint.ts';
import { withLink } from '../providers/providers.ts';
import type { Ready, SendOutcome, SmtpLink } from '../providers/providers.ts';
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

const toRow = ({ send_id, attempt }: Claimed, outcome: SendOutcome): OutcomeRow => ({
  sendId: send_id,
  attempt,
  outcome: outcome.kind,
  reason:
    'reason' in outcome ? outcome.reason : outcome.kind === 'unknown' ? 'outcome_unknown' : null,
  providerMessageId: outcome.kind === 'accepted' ? outcome.providerMessageId : null,
  retryAfterSeconds:
    outcome.kind === 'deferred'
      ? retryAfterSeconds(attempt)
      : outcome.kind === 'not_started'
        ? 0
        : null,
});

/**
 * Gives one message to the provider over an open connection: commit that we begin, look at the
 * clock, send, commit what became of it. Between the two commits a crash leaves the send in
 * handing_off, which the sweeper turns into unknown; nothing is ever sent on the strength of memory.
 */
const handOver = async (
  context: HandOffContext,
  { send, raw }: Prepared,
  link: SmtpLink,
): Promise<null> => {
  const { deps, projectId, owner, ready } = context;
  // Taken before the commit: a process frozen in between must find its deadline passed.
  const deadline = performance.now() + HAND_OFF_DEADLINE_MS;
  const messageId = messageIdOf({
    sendId: send.send_id,
    attempt: send.attempt,
    sender: ready.sender,
  });

  failpoint('before_hand_off_commit');
  const decision = await beginHandOff(deps.db, projectId, {
    sendId: send.send_id,
    addressKey: send.address_key,
    owner,
    attempt: send.attempt,
    messageId,
  });
  if (decision !== 'handing_off') return null;
  failpoint('after_hand_off_commit');

  const outcome = await link.send({
    from: ready.sender.from_email,
    to: send.recipient,
    raw,
    mayStart: () => performance.now() < deadline,
  });
  failpoint('after_provider_answer');
  await recordOutcome(deps.db, projectId, toRow(send, outcome));
  failpoint('after_outcome_commit');
  return null;
};

/** Hands one prepared send to its provider. Answers why the provider could not be reached, or null. */
export const handOff = (context: HandOffContext, prepared: Prepared): Promise<SendOutcome | null> =>
  withLink(context.deps, context.ready, (link) => handOver(context, prepared, link));
