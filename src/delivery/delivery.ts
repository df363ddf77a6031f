import type { Scope } from '../base/db.ts';
import { failpoint } from '../base/failpoint.ts';
import { newId } from '../base/ids.ts';
import * as suppression from '../suppression/suppression.ts';
import { addFacts, noteRefused, proveResolved } from './fact_queries.ts';
import type { Fact, Told } from './fact_queries.ts';
import type { Limits } from './limits.ts';
import { observeEnded } from './observe.ts';
import { endExpired, planSends } from './queries.ts';
import type { Category, NewSend, OnUnknown, Planned } from './queries.ts';
import { countReports } from './rate_queries.ts';
import { EXPIRES_AFTER_HOURS_DEFAULT } from './retry.ts';
import { endLost } from './sweep_queries.ts';

export type { Bounce, TakeBounce } from './bounce.ts';
export { eraser } from './erase.ts';
export { sendSection } from './export.ts';
export { findNamed, findSentTo } from './feedback_queries.ts';
export { isHandingOff, listHandedBy, listHandedTo } from './handed_queries.ts';
export { EMAIL_SERVICES, inOneLine, isTestEmail } from '../providers/providers.ts';
export type { EmailService } from '../providers/providers.ts';
export type { Fact };
export type { Found as SentTo, Trace } from './feedback_queries.ts';
export { giveBackLost } from './give_back.ts';
export { releasePaused } from './halt_queries.ts';
export { cancelQueued, cancelSends, goOnSending, haltSends } from './halts.ts';
export { getBegunAt } from './hand_off_queries.ts';
export {
  countMailed,
  countOfRecipients,
  isMost,
  STOPPED_PER_RECIPIENT_MAX,
  UNCONFIRMED,
} from './limits.ts';
export type { Limits, Mailed, OfRecipient } from './limits.ts';
export { PastSpellings } from './past_spellings.ts';
export { findCutoffs, pruneContent, pruneSends } from './prune.ts';
export type { Cutoffs } from './retention_queries.ts';
export { changeRetention, readRetention, RetentionChange } from './retention.ts';
export type { RetentionSettings } from './retention.ts';
export { readSettings } from './settings.ts';
export {
  countBetween,
  countProviderGone,
  countUnconfirmedWaiting,
  countUnknown,
  UNKNOWN_COUNTED_MAX,
} from './count_queries.ts';
export { countSentBy, listRecipients, listRunsWithSends, listWithSends } from './sent_queries.ts';
export { checkRates } from './rates.ts';
export { readMessageId } from './message.ts';
export { readSend } from './read_send.ts';
export type { ReadSend } from './read_send.ts';
export { findSend } from './resolve.ts';
export { holdRestored } from './sweep_queries.ts';
export { FAILOVERS, OVERDUE, resume } from './resume.ts';
export type { Resumed, Resuming } from './resume.ts';
export { releaseRamped } from './release_ramped.ts';
export { observeHandOffs, observeHint } from './observe.ts';
export { CATEGORIES, ON_UNKNOWN } from './queries.ts';
export type { Category };
export { HAND_OFF_DEADLINE_MS } from '../providers/providers.ts';
export { retryAfterSeconds } from './retry.ts';
export { sendHint } from './send_hint.ts';
export { observeSkips } from './skips.ts';
export type { Skip } from './skips.ts';
export { fixOfEnded } from './send_log.ts';
export { sendQueued } from './send_queued.ts';
export { findStoppingSpelling } from './stopping_spelling.ts';

const SECONDS_PER_HOUR = 3_600;

type Given =
  | 'sendId'
  | 'addressKey'
  | 'mailboxKey'
  | 'expiresAfterSeconds'
  | 'category'
  | 'onUnknown'
  | 'limits'
  | 'isTest'
  | 'traceparent'
  | 'isBulk';
export type Intent = Omit<NewSend, Given> & {
  /** Marketing, unless it is said otherwise. */
  category?: Category;
  /** Past this age it is not handed over any more. */
  expiresAfterSeconds?: number;
  /** What is done with an outcome that stays unknown; held, so that somebody looks, unless said otherwise. */
  onUnknown?: OnUnknown;
  /** None, unless it is said otherwise. */
  limits?: Limits | null;
  /** It says so, and counts for nobody; in earnest, unless it is said otherwise. */
  isTest?: boolean;
  /** The trace that it belongs to, where there is one. */
  traceparent?: string | null;
  /** Whether a bulk start caused it; not, unless it is said otherwise. */
  isBulk?: boolean;
};

const toNewSend = (scope: Scope, intent: Intent): NewSend => {
  const limits = intent.limits ?? null;
  const addressKey = suppression.addressKey(scope, intent.recipient);
  const mailboxKey = suppression.mailboxKey(scope, intent.recipient);
  const isCounted = limits?.browser_triggered === true || !mailboxKey.equals(addressKey);
  return {
    category: 'marketing',
    ...intent,
    sendId: newId(),
    addressKey,
    mailboxKey: isCounted ? mailboxKey : null,
    expiresAfterSeconds:
      intent.expiresAfterSeconds ?? EXPIRES_AFTER_HOURS_DEFAULT * SECONDS_PER_HOUR,
    onUnknown: intent.onUnknown ?? 'hold',
    limits,
    isTest: intent.isTest ?? false,
    traceparent: intent.traceparent ?? null,
    isBulk: intent.isBulk ?? false,
  };
};

/**
 * Plans the one send of each of some steps of runs, or returns the one that is there. A suppressed address gets a send
 * that has ended already, so that the refusal can be seen.
 */
export const plan = async (
  scope: Scope,
  intents: readonly Intent[],
): Promise<readonly Planned[]> => {
  const sends = intents.map((intent) => toNewSend(scope, intent));
  const planned = await planSends(scope, sends);
  const ids = new Set(sends.map(({ sendId }) => sendId));
  const ended = planned.filter(
    ({ planned_id, planned_status }) => planned_status !== 'queued' && ids.has(planned_id),
  );
  await observeEnded(
    scope,
    ended.map(({ planned_id: send_id }) => ({ send_id })),
  );
  failpoint('before_plan_commit');
  return planned;
};

/**
 * Locks addresses and their mailboxes, in the order of all locks, before emails to them are planned together. One row
 * needs no order: its plan locks it.
 */
export const lockRecipients = async (scope: Scope, emails: readonly string[]): Promise<void> => {
  const keys = emails.flatMap((email) => [
    suppression.addressKey(scope, email),
    suppression.mailboxKey(scope, email),
  ]);
  const distinct = [...new Map(keys.map((key) => [key.toString('hex'), key])).values()];
  if (distinct.length > 1) await suppression.lockAddresses(scope, distinct);
};

/** Adds what providers told of sends, by their ids; those whose outcome nobody knew may turn out to be sent. */
export const recordFacts = async (scope: Scope, told: readonly Told[]): Promise<void> => {
  if (told.length === 0) return;
  const inLockOrder = told.toSorted((a, b) => (a.sendId < b.sendId ? -1 : 1));
  const added = await addFacts(scope, inLockOrder);
  const proved = new Set(added.filter(({ is_proved }) => is_proved).map(({ send_id }) => send_id));
  const ids = [...new Set(told.map(({ sendId }) => sendId))];
  const others = ids.filter((id) => !proved.has(id));
  const resolved = others.length === 0 ? [] : await proveResolved(scope, others);
  const ended = [...proved].map((send_id) => ({ send_id }));
  await observeEnded(scope, [...ended, ...resolved]);
  const firstOf = (fact: Fact) =>
    added.filter((one) => one.is_first && one.fact === fact).map(({ send_id }) => send_id);
  await countReports(scope, { bounced: firstOf('bounced'), complained: firstOf('complained') });
};

/** Records the bounces that refused messages during their hand-off. They count as sent, and as bounced. */
export const recordRefused = async (
  scope: Scope,
  refused: readonly { sendId: string; occurredAt: Date }[],
): Promise<void> => {
  const sendIds: string[] = [];
  for (const { sendId, occurredAt } of refused)
    if (await noteRefused(scope, sendId, occurredAt)) sendIds.push(sendId);
  await countReports(scope, { sent: sendIds, bounced: sendIds });
};

/** Ends hand-offs of dead or silent owners as unknown; answers how many. */
export const settleLost = async (
  scope: Scope,
  deadOwners: string[],
  silentSeconds: number,
): Promise<number> => {
  const lost = await endLost(scope, deadOwners, silentSeconds);
  await observeEnded(
    scope,
    lost.map((send_id) => ({ send_id })),
  );
  return lost.length;
};

/** How many sends one sweep of a project ends; whoever is left is found by the next. Nobody hands them over anyway. */
export const EXPIRE_SENDS_MAX = 5_000;

/** Ends what waited too long, the longest first. Answers how many. */
export const expireSends = async (scope: Scope, sendsMax = EXPIRE_SENDS_MAX): Promise<number> => {
  const expired = await endExpired(scope, sendsMax);
  await observeEnded(scope, expired);
  return expired.length;
};
