// What hand-offs report about a provider changes its pace.
import type { Scope } from '../base/db.ts';
import { CIRCUIT_FAILURES, holdForSeconds, openForSeconds } from './circuit.ts';
import { learnedOf, pauseOf } from './pace.ts';
import { findPlan, insertPace, lockPace, writePace } from './pace_queries.ts';
import type { Pace } from './pace_queries.ts';
import type { AccountAnswer } from './account_answer.ts';
import { alertHeldChange } from './provider_alerts.ts';
import { dayOf } from './ramp.ts';
import { learnRate, rateAt } from './rate.ts';

/**
 * A provider as the caller used it. An answer to older settings says nothing about the record of today: it changes
 * nothing.
 */
export type Used = { providerId: string; revision: number };

/**
 * Returns the plan of a provider whose record still has these settings, and creates its pace, which the caller changes.
 * Null where the record has other settings.
 */
const currentPlan = async (scope: Scope, { providerId, revision }: Used) => {
  const plan = await findPlan(scope, providerId);
  if (plan?.revision !== revision) return null;
  if (!plan.is_paced) await insertPace(scope, providerId);
  return plan;
};

const change = async (
  scope: Scope,
  providerId: string,
  changed: (pace: Pace) => (Partial<Pace> & { wakes_at?: Date | null }) | null,
): Promise<Pace | null> => {
  const pace = await lockPace(scope, providerId);
  const changes = pace && changed(pace);
  if (!pace || !changes) return pace;
  await writePace(scope, providerId, { wakes_at: null, ...pace, ...changes });
  const changedPace = { ...pace, ...changes };
  await alertHeldChange(scope, providerId, {
    before: pace.held_reason,
    after: changedPace.held_reason,
    answer: changedPace.held_answer,
  });
  return changedPace;
};

/**
 * Gives back what was taken and not handed over: of a day's ramp, and the probe of a circuit, also that of an owner
 * who is dead, which somebody else may make then. Answers whether there is room in the day again.
 */
export const giveBack = async (
  scope: Scope,
  providerId: string,
  { sends, isProbe, deadOwners = [] }: { sends: number; isProbe: boolean; deadOwners?: string[] },
): Promise<boolean> => {
  let hasRoom = false;
  await change(scope, providerId, (pace) => {
    hasRoom = sends > 0 && pace.ramp_count > 0 && pace.ramp_day === dayOf(pace.now.getTime());
    const isLost = pace.probed_by !== null && deadOwners.includes(pace.probed_by);
    const isReopened = isLost || (isProbe && pace.opened_until !== null);
    if (!hasRoom && !isReopened) return null;
    return {
      ...(hasRoom ? { ramp_count: Math.max(0, pace.ramp_count - sends) } : {}),
      ...(isReopened ? { opened_until: pace.now, probed_by: null } : {}),
    };
  });
  return hasRoom;
};

/**
 * Counts a failure of the provider itself. Once its circuit is open only a probe tells anything new: what else fails
 * then began before. Answers for how long the circuit is open; null: it is closed.
 */
export const noteFailure = async (
  scope: Scope,
  used: Used,
  { isProbe, random = Math.random() }: { isProbe: boolean; random?: number },
): Promise<number | null> => {
  if (!(await currentPlan(scope, used))) return null;
  const pace = await change(scope, used.providerId, ({ failure_count, now }) => {
    if (failure_count >= CIRCUIT_FAILURES && !isProbe) return null;
    const failures = failure_count + 1;
    const seconds = openForSeconds(failures, random);
    const opened_until = seconds === null ? null : new Date(now.getTime() + seconds * 1_000);
    return {
      failure_count: failures,
      opened_until,
      held_reason: null,
      held_answer: null,
      probed_by: null,
      wakes_at: opened_until,
    };
  });
  return pace?.opened_until ? pace.opened_until.getTime() - pace.now.getTime() : null;
};

const WELL = {
  failure_count: 0,
  opened_until: null,
  held_reason: null,
  held_answer: null,
  probed_by: null,
  refused_digest: null,
  refused_count: 0,
} as const;

const isWell = ({ failure_count, refused_count }: Pace): boolean =>
  failure_count === 0 && refused_count === 0;

/** Records that the provider took a message: its circuit closes, and no refusals in a row are left. */
export const noteSuccess = async (scope: Scope, providerId: string): Promise<void> => {
  await change(scope, providerId, (pace) => (isWell(pace) ? null : WELL));
};

/**
 * Records that the provider answered about one send: it works, and its circuit closes unless the account is held.
 * Returns whether it is closed.
 */
export const noteAnswered = async (scope: Scope, providerId: string): Promise<boolean> => {
  const pace = await change(scope, providerId, ({ failure_count, held_reason }) =>
    failure_count === 0 || held_reason !== null
      ? null
      : { failure_count: 0, opened_until: null, probed_by: null },
  );
  return pace === null || pace.failure_count === 0;
};

/** Records refusals in a row, so that later turns and other workers continue to count. */
export const noteRefusals = async (
  scope: Scope,
  used: Used,
  { digest, count }: { digest: string; count: number },
): Promise<void> => {
  if (!(await currentPlan(scope, used))) return;
  await change(scope, used.providerId, ({ refused_digest, refused_count }) =>
    refused_digest === digest && refused_count >= count
      ? null
      : { refused_digest: digest, refused_count: count },
  );
};

/** For so long email shows no words of pages after the provider gave reason to suspect them. */
export const BARE_MINUTES = 60;
const MINUTE_MS = 60_000;

/**
 * Records that the provider did not take an email that no page caused, but that shows words of a page. Returns whether
 * such email was rendered with these words until now.
 */
export const noteWords = async (scope: Scope, used: Used): Promise<boolean> => {
  if (!(await currentPlan(scope, used))) return false;
  let isNew = false;
  await change(scope, used.providerId, ({ bare_until, now }) => {
    if (bare_until !== null && bare_until > now) return null;
    isNew = true;
    return { bare_until: new Date(now.getTime() + BARE_MINUTES * MINUTE_MS) };
  });
  return isNew;
};

/**
 * Holds a provider that refuses the account: nothing is given to it, and then one send finds out whether it takes
 * messages again. What fails while it is held began before, and changes nothing. Returns for how many milliseconds.
 */
export const noteHeld = async (
  scope: Scope,
  used: Used,
  held: {
    reason: string;
    answer?: AccountAnswer | null;
    isProbe: boolean;
    retryAfterSeconds: number | undefined;
  },
): Promise<number | null> => {
  if (!(await currentPlan(scope, used))) return null;
  const pace = await change(scope, used.providerId, ({ failure_count, held_reason, now }) => {
    if (held_reason !== null && !held.isProbe) return null;
    const probes = held_reason === null ? 0 : Math.max(0, failure_count - CIRCUIT_FAILURES) + 1;
    const seconds = holdForSeconds(probes, held.retryAfterSeconds);
    const opened_until = new Date(now.getTime() + seconds * 1_000);
    return {
      failure_count: CIRCUIT_FAILURES + probes,
      held_reason: held.reason,
      held_answer: held.answer ?? null,
      opened_until,
      probed_by: null,
      wakes_at: opened_until,
    };
  });
  return pace?.opened_until ? pace.opened_until.getTime() - pace.now.getTime() : null;
};

/**
 * The provider was proved anew, by a test message that it took or by a connection that was saved: its failures are
 * forgotten, what it asked for ends, and it is as fast again as its record says. Where that is too fast it says so.
 */
export const noteProved = async (scope: Scope, providerId: string): Promise<void> => {
  await change(scope, providerId, (pace) => {
    const { learned_rate, now } = pace;
    const isThrottled = learned_rate !== null;
    if (isWell(pace) && !isThrottled) return null;
    return {
      ...WELL,
      learned_rate: null,
      learned_at: null,
      ...(isThrottled ? { next_at: now } : {}),
    };
  });
};

/**
 * The provider wants less: from now on half of what it was given, `observed` a second, and nothing for a moment, or
 * for as long as it says. What a pause stops that is longer teaches nothing.
 */
export const noteThrottled = async (
  scope: Scope,
  used: Used,
  observed: number,
  pauseMs: number,
): Promise<void> => {
  const plan = await currentPlan(scope, used);
  if (!plan) return;
  await change(scope, used.providerId, (pace) => {
    const now = pace.now.getTime();
    const learned = learnedOf(pace);
    const inEffect = rateAt(plan.rate_per_second, learned, now);
    const nextAt = pace.next_at?.getTime() ?? 0;
    if (pauseOf(pace, inEffect) && nextAt >= now + pauseMs) return null;
    const rate = learnRate(inEffect, observed, learned, now);
    // An answer of the same burst may ask for more.
    if (rate === null && nextAt >= now + pauseMs) return null;
    const next_at = new Date(Math.max(now + pauseMs, nextAt));
    return rate === null ? { next_at } : { learned_rate: rate, learned_at: pace.now, next_at };
  });
};
