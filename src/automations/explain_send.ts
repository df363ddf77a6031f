import type { z } from 'zod';
import type { Scope } from '../base/db.ts';
import { inOneLine, readSend } from '../delivery/delivery.ts';
import type { ReadSend } from '../delivery/delivery.ts';
import { listLogs } from './erase_queries.ts';
import { limitedAs } from './explanation.ts';
import { findRunById } from './shown_queries.ts';
import { findOtherSpelling, withSpelling } from './other_spelling.ts';
import { heldAs, isSendDecided, stopsSend, toSendEntry } from './send_explanation.ts';
import type { SendDecided, SendEntry, SendExplanation } from './send_explanation.ts';

/**
 * What the run decided until it planned the mail. Of an erased person there is nothing left, nor of a deleted
 * automation.
 */
const explainRun = async (scope: Scope, send: ReadSend): Promise<SendEntry[]> => {
  const run = send.run_id === null ? null : await findRunById(scope, send.run_id);
  if (!run) return [];
  const entries = [
    toSendEntry('entered', {
      at: run.started_at.toISOString(),
      detail: { event_id: run.trigger_event_id, version: String(run.version) },
    }),
  ];
  for (const { step_id: stepId, decision, detail, decided_at } of await listLogs(scope, [
    run.run_id,
  ])) {
    if (detail['send_id'] === send.id) break;
    if (!isSendDecided(decision)) continue;
    const told = Object.entries(detail).map(
      ([name, value]) => [name, typeof value === 'string' ? value : null] as const,
    );
    entries.push(
      toSendEntry(decision, {
        at: decided_at.toISOString(),
        stepId,
        detail: Object.fromEntries(told),
      }),
    );
  }
  return entries;
};

const ATTEMPTS: Record<string, SendDecided> = {
  accepted: 'attempt_accepted',
  deferred: 'attempt_deferred',
  rejected: 'attempt_rejected',
  unknown: 'attempt_unknown',
  not_started: 'attempt_not_started',
};

/** Of an attempt: somebody found that it was not taken, and had the mail sent again. */
const RESOLVED = 'resolved';

/** What the provider answered to a hand-off that it did not take. */
const answerOf = ({ outcome, ...said }: ReadSend['hand_offs'][number]) => ({
  answer:
    outcome === 'accepted'
      ? null
      : inOneLine({
          code: said.reply_code,
          enhanced_code: said.reply_enhanced,
          text: said.reply_text,
        }),
});

/** Every hand-off, from the first. */
const explainAttempts = ({ hand_offs }: ReadSend): SendEntry[] =>
  hand_offs.toReversed().flatMap((handOff) => {
    const { attempt, started_at, ended_at, outcome, reason } = handOff;
    const detail = { attempt: String(attempt) };
    const begun = toSendEntry('handed_to_provider', { at: started_at, detail });
    if (reason === RESOLVED) {
      const unknown = toSendEntry('attempt_unknown', { at: ended_at, detail });
      return [begun, unknown, toSendEntry('found_not_taken', { detail })];
    }
    const decision = outcome === null ? undefined : ATTEMPTS[outcome];
    return decision === undefined
      ? [begun]
      : [
          begun,
          toSendEntry(decision, {
            at: ended_at,
            detail: { ...detail, reason, ...answerOf(handOff) },
          }),
        ];
  });

/** What a mail waits for that is queued, or unknown and sent again. */
const explainWait = ({
  waits_for,
  status,
  status_reason: reason,
  status_fix: fix,
  due_at: until,
}: ReadSend): SendEntry[] => {
  const hold = waits_for && heldAs(waits_for.because);
  if (waits_for && hold) {
    const { reason: failure, until: holdsUntil } = waits_for;
    const answer = inOneLine(waits_for.answer);
    const detail = { reason: failure, answer, until: holdsUntil, fix: waits_for.fix };
    return [toSendEntry(hold, { detail })];
  }
  if (waits_for?.because === 'resend')
    return [
      toSendEntry('waits_for_resend', { detail: { until: waits_for.until, fix: waits_for.fix } }),
    ];
  if (reason === 'ramp') return [toSendEntry('waits_for_ramp', { detail: { until } })];
  if (reason === 'unconfirmed_address')
    return [toSendEntry('waits_for_another', { detail: { until } })];
  const limited = limitedAs(status, reason);
  if (limited) return [toSendEntry(limited, { detail: { until } })];
  return reason === null
    ? []
    : [toSendEntry('waits_for_retry', { detail: { reason, until, fix } })];
};

const FACTS: Record<string, SendDecided> = {
  delivered: 'send_delivered',
  bounced: 'send_bounced',
  complained: 'send_complained',
};

/** Whether the provider refused it for good, also with a bounce as its answer. */
const isRefused = ({ accepted_at, hand_offs }: ReadSend): boolean =>
  accepted_at === null && hand_offs[0]?.outcome === 'rejected';

/** A bounce that a provider answered came with its answer, so it follows the hand-off. */
const explainFeedback = (send: ReadSend): SendEntry[] =>
  send.feedback
    .toSorted((a, b) => a.occurred_at.localeCompare(b.occurred_at))
    .flatMap(({ kind, occurred_at }) => {
      const decision = FACTS[kind];
      if (decision === undefined) return [];
      if (decision !== 'send_bounced' || !isRefused(send))
        return [toSendEntry(decision, { at: occurred_at })];
      const answeredAt = send.hand_offs[0]?.ended_at ?? occurred_at;
      const at = answeredAt > occurred_at ? answeredAt : occurred_at;
      const detail = { reason: send.status_reason, fix: send.status_fix };
      return [toSendEntry(decision, { at, detail })];
    });

/** Where it ended, besides what feedback says. */
const explainEnd = (send: ReadSend): SendEntry[] => {
  const { status, status_reason: reason, accepted_at: at } = send;
  if (status === 'queued' || send.waits_for) return explainWait(send);
  const detail = { reason, fix: send.status_fix };
  if (status === 'suppressed' && reason === 'unsubscribed')
    return [toSendEntry('send_unsubscribed', { detail })];
  const limited = limitedAs(status, reason);
  if (limited) return [toSendEntry(limited, { detail })];
  if (isRefused(send))
    return status === 'bounced' ? [] : [toSendEntry('send_rejected', { detail })];
  const isTaken = at !== null || Object.hasOwn(FACTS, status);
  const named = isTaken ? 'send_accepted' : `send_${status}`;
  return isSendDecided(named) ? [toSendEntry(named, { at, detail })] : [];
};

/** Every decision behind one mail, in order: of its run, its provider, its recipient; and the first that stopped it. */
export const explainSend = async (
  scope: Scope,
  sendId: string,
): Promise<z.output<typeof SendExplanation>> => {
  const send = await readSend(scope, sendId);
  const { step_id: stepId, queued_at: at, has_content } = send;
  const before = await explainRun(scope, send);
  // Whoever has it sent again gives it a new age.
  const isAgain = send.hand_offs.some(({ reason }) => reason === RESOLVED);
  const expiresAt = isAgain ? null : send.expires_at;
  const other = await findOtherSpelling(scope, send.id, {
    status: send.status,
    reason: send.status_reason,
  });
  const after = [
    toSendEntry('send_queued', {
      at,
      detail: { category: send.category, expires_at: expiresAt },
    }),
    ...(has_content ? [toSendEntry('rendered')] : []),
    ...explainAttempts(send),
    ...explainEnd(send).map((entry) => withSpelling(entry, other)),
    ...explainFeedback(send),
  ].map((entry) => ({ ...entry, step_id: stepId }));
  return {
    send_id: send.id,
    automation_id: send.automation_id,
    run_id: send.run_id,
    profile_id: send.profile_id,
    decisions: [...before, ...after],
    // What came before led to this mail: only what came after can have stopped it.
    stopped_by: after.find(stopsSend) ?? null,
  };
};
