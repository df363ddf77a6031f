import type { Scope } from '../base/db.ts';
import type { AccountAnswer } from './account_answer.ts';
import { circuitAt } from './circuit.ts';
import type { CircuitState } from './circuit.ts';
import { learnedOf, pauseOf } from './pace.ts';
import { findPace, findPlan } from './pace_queries.ts';
import type { Pace } from './pace_queries.ts';
import { dayOf, rampAllowance } from './ramp.ts';
import type { Ramp } from './ramp.ts';
import { rateAt } from './rate.ts';
import type { Pause } from './rate.ts';

/** How a provider is used just now, for people. */
export type PaceState = {
  circuit: CircuitState;
  /** Until when its circuit is open; null while it is not. */
  openUntil: Date | null;
  /** Why its circuit is not closed, where the provider said it of the account, and what it answered. */
  heldReason: string | null;
  heldAnswer: AccountAnswer | null;
  /** While it wants nothing at all: since it throttled, or its quota is used up. */
  pause: Pause | null;
  rate: number | null;
  /** Whether the provider taught the rate by throttling. */
  isLearned: boolean;
  /** What a warm-up allows today; null without one. */
  rampToday: { allowed: number; used: number } | null;
};

const heldBy = (pace: Pace | null) => ({
  heldReason: pace?.held_reason ?? null,
  heldAnswer: pace?.held_answer ?? null,
});

const rampTodayOf = (ramp: Ramp | null, pace: Pace | null, now: number) => {
  const day = dayOf(now);
  const allowed = ramp && rampAllowance(ramp, day);
  return allowed === null ? null : { allowed, used: pace?.ramp_day === day ? pace.ramp_count : 0 };
};

export const findState = async (scope: Scope, providerId: string): Promise<PaceState | null> => {
  const plan = await findPlan(scope, providerId);
  if (!plan) return null;
  const { rate_per_second: given, ramp_started_on: started_on, ramp_stages: stages } = plan;
  const pace = await findPace(scope, providerId);
  const now = pace?.now.getTime() ?? Date.now();
  const rate = pace ? rateAt(given, learnedOf(pace), now) : given;
  const openedUntil = pace?.opened_until ?? null;
  const circuit = circuitAt(pace?.failure_count ?? 0, openedUntil?.getTime() ?? null, now);
  return {
    circuit,
    openUntil: circuit === 'open' ? openedUntil : null,
    ...heldBy(circuit === 'closed' ? null : pace),
    pause: pace && pauseOf(pace, rate),
    rate,
    isLearned: rate !== given,
    rampToday: rampTodayOf(started_on && stages ? { started_on, stages } : null, pace, now),
  };
};
