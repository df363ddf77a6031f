// What hand-offs tell of a provider's pace.
import type { Scope } from '../base/db.ts';
import { CIRCUIT_FAILURES, openForSeconds } from './circuit.ts';
import { learnedOf, pauseOf } from './pace.ts';
import { findPlan, insertPace, lockPace, writePace } from './pace_queries.ts';
import type { Pace } from './pace_queries.ts';
import { dayOf } from './ramp.ts';
import { learnRate, rateAt } from './rate.ts';

const change = async (
  scope: Scope,
  providerId: string,
  changed: (pace: Pace) => (Partial<Pace> & { wakes_at?: Date | null }) | null,
): Promise<Pace | null> => {
  const pace = await lockPace(scope, providerId);
  const changes = pace && changed(pace);
  if (!pace || !changes) return pace;
  await writePace(scope, providerId, { wakes_at: null, ...pace, ...changes });
  return { ...pace, ...changes };
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
  providerId: string,
  { isProbe, random = Math.random() }: { isProbe: boolean; random?: number },
): Promise<number | null> => {
  if (!(await findPlan(scope, providerId))) return null;
  await insertPace(scope, providerId);
  const pace = await change(scope, providerId, ({ failure_count, now }) => {
    if (failure_count >= CIRCUIT_FAILURES && !isProbe) return null;
    const failures = failure_count + 1;
    const seconds = openForSeconds(failures, random);
    const opened_until = seconds === null ? null : new Date(now.getTime() + seconds * 1_000);
    return { failure_count: failures, opened_until, probed_by: null, wakes_at: opened_until };
  });
  return pace?.opened_until ? pace.opened_until.getTime() - pace.now.getTime() : null;
};

/** The provider answers: whatever failures there were are forgotten, and its circuit is closed. */
export const noteSuccess = async (scope: Scope, providerId: string): Promise<void> => {
  await change(scope, providerId, ({ failure_count }) =>
    failure_count === 0 ? null : { failure_count: 0, opened_until: null, probed_by: null },
  );
};

/**
 * The provider was proved anew, by a test message that it took or by a connection that was saved: its failures are
 * forgotten, what it asked for ends, and it is as fast again as its record says. Where that is too fast it says so.
 */
export const noteProved = async (scope: Scope, providerId: string): Promise<void> => {
  await change(scope, providerId, ({ failure_count, learned_rate, now }) => {
    const isThrottled = learned_rate !== null;
    if (failure_count === 0 && !isThrottled) return null;
    return {
      failure_count: 0,
      opened_until: null,
      probed_by: null,
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
  providerId: string,
  observed: number,
  pauseMs: number,
): Promise<void> => {
  const plan = await findPlan(scope, providerId);
  if (!plan) return;
  await insertPace(scope, providerId);
  await change(scope, providerId, (pace) => {
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
