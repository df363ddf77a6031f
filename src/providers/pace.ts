import type { Scope } from '../base/db.ts';
import { CIRCUIT_FAILURES, CIRCUIT_PROBE_MS, circuitAt } from './circuit.ts';
import { findPlan, insertPace, lockPace, takePace, updatePlan, writePace } from './pace_queries.ts';
import type { Pace } from './pace_queries.ts';
import { dayOf, marketingAllowance, nextDayAt, pagesAllowance, rampAllowance } from './ramp.ts';
import type { Ramp } from './ramp.ts';
import { grantRate, pauseAt, rateAt } from './rate.ts';
import type { Pause } from './rate.ts';

/** How fast a customer lets a provider be used. */
export type Plan = { rate_per_second: number | null; ramp: Ramp | null };

/** What a claim may take of a provider just now, and why not more. */
export type Allowance = {
  sends: number;
  /** How many of them may be marketing email. */
  marketing: number;
  /** How many of them may be email that pages caused. */
  pages: number;
  /** Whether marketing was claimed far enough ahead: it gets only a part of what is left. */
  isReserved: boolean;
  /** The next day of the ramp and what waits for it, where today has no room for it: all, marketing, email of pages. */
  ramped: { until: Date; all: boolean; marketing: boolean; pages: boolean } | null;
  limitedBy: 'circuit' | 'pause' | 'rate' | 'ramp' | 'busy' | null;
  /** Until the first send may start; each of the others starts `everyMs` after the one before. */
  startsInMs: number;
  everyMs: number;
  /** When to look again, if this limit is reached; null: when something else happens. */
  wakesInMs: number | null;
  /** The same by the database's clock. */
  wakesAt: Date | null;
  /** Failures since the last success. */
  failures: number;
  /** The newest refusals in a row, which other turns counted. */
  refusals: { digest: string; count: number } | null;
  /** Whether what is sent now finds out if the provider is well again. */
  isProbe: boolean;
  /** Whether email that no page caused shows no words of pages just now. */
  isBare: boolean;
  /** What was looked at; null where no limit is in effect. */
  held: { pace: Pace; rate: number | null; startsAt: number } | null;
};

const UNLIMITED: Allowance = {
  sends: Infinity,
  marketing: Infinity,
  pages: Infinity,
  isReserved: false,
  ramped: null,
  limitedBy: null,
  startsInMs: 0,
  everyMs: 0,
  wakesInMs: null,
  wakesAt: null,
  failures: 0,
  refusals: null,
  isProbe: false,
  isBare: false,
  held: null,
};
const BUSY_MS = 100;

export const learnedOf = ({ learned_rate: rate, learned_at: at }: Pace) =>
  rate === null || at === null ? null : { rate, at: at.getTime() };

/** For how long a provider wants nothing, at the rate that is in effect. */
export const pauseOf = (pace: Pace, rate: number | null): Pause | null =>
  pauseAt(rate, learnedOf(pace), pace.next_at?.getTime() ?? 0, pace.now.getTime());

/** Sets how fast a provider may be used. What another rate gave away holds nobody up; its own pause does. */
export const setPlan = async (
  scope: Scope,
  providerId: string,
  { rate_per_second, ramp }: Plan,
): Promise<void> => {
  const [ramp_started_on, ramp_stages] = [ramp?.started_on ?? null, ramp ? [...ramp.stages] : null];
  const before = await findPlan(scope, providerId);
  await updatePlan(scope, providerId, { rate_per_second, ramp_started_on, ramp_stages });
  const pace = before?.is_paced ? await lockPace(scope, providerId) : null;
  if (!before || !pace) return;
  const given = before.rate_per_second;
  const isPaused = pauseOf(pace, rateAt(given, learnedOf(pace), pace.now.getTime())) !== null;
  const isFreed = given !== rate_per_second && !isPaused;
  await writePace(scope, providerId, {
    ...pace,
    next_at: isFreed ? null : pace.next_at,
    wakes_at: null,
  });
};

type Limit = Pick<Allowance, 'limitedBy' | 'sends'> & {
  marketing?: number;
  pages?: number;
  isReserved?: boolean;
  startsAt?: number;
  wakesAt: number | null;
};

const rampLimit = (pace: Pace, allowance: number, day: string): Limit => {
  const used = pace.ramp_day === day ? pace.ramp_count : 0;
  return {
    limitedBy: 'ramp',
    sends: Math.max(0, allowance - used),
    marketing: Math.max(0, marketingAllowance(allowance) - used),
    pages: Math.max(0, pagesAllowance(allowance) - used),
    wakesAt: nextDayAt(day),
  };
};

/** Marketing's part of what is reserved: a quarter, by chance where that is no whole number. It never starves. */
const reservedPart = (sends: number): number => Math.floor(sends / 4 + Math.random());

const rateLimit = (pace: Pace, rate: number): Limit => {
  const grant = grantRate(rate, pace.next_at?.getTime() ?? 0, pace.now.getTime());
  const marketing = grant.isReserved ? reservedPart(grant.sends) : grant.sends;
  return { limitedBy: 'rate', ...grant, marketing };
};

const limitsOf = (pace: Pace, rate: number | null, ramp: Ramp | null): Limit[] => {
  const now = pace.now.getTime();
  const limits: Limit[] = [];
  const circuit = circuitAt(pace.failure_count, pace.opened_until?.getTime() ?? null, now);
  if (circuit === 'open')
    limits.push({ limitedBy: 'circuit', sends: 0, wakesAt: pace.opened_until?.getTime() ?? now });
  if (circuit === 'probing')
    limits.push({ limitedBy: 'circuit', sends: 1, wakesAt: now + CIRCUIT_PROBE_MS });
  const day = dayOf(now);
  const allowance = ramp && rampAllowance(ramp, day);
  if (allowance !== null) limits.push(rampLimit(pace, allowance, day));
  const pause = pauseOf(pace, rate);
  if (pause) limits.push({ limitedBy: 'pause', sends: 0, wakesAt: pause.until });
  else if (rate !== null) limits.push(rateLimit(pace, rate));
  return limits;
};

const rampedOf = (limits: readonly Limit[]): Allowance['ramped'] => {
  const ramp = limits.find(({ limitedBy }) => limitedBy === 'ramp');
  if (!ramp?.wakesAt || (ramp.marketing !== 0 && ramp.pages !== 0)) return null;
  const { sends, marketing, pages, wakesAt } = ramp;
  const full = { all: sends === 0, marketing: marketing === 0, pages: pages === 0 };
  return { until: new Date(wakesAt), ...full };
};

const toAllowance = (pace: Pace, rate: number | null, ramp: Ramp | null): Allowance => {
  const now = pace.now.getTime();
  const limits = limitsOf(pace, rate, ramp);
  const startsAt = limits.find((limit) => limit.startsAt !== undefined)?.startsAt ?? now;
  const [least] = limits.toSorted((a, b) => a.sends - b.sends);
  return {
    sends: least?.sends ?? Infinity,
    isReserved: least?.isReserved ?? false,
    marketing: Math.min(...limits.map(({ marketing = Infinity }) => marketing)),
    pages: Math.min(...limits.map(({ pages = Infinity }) => pages)),
    ramped: rampedOf(limits),
    limitedBy: least?.limitedBy ?? null,
    startsInMs: startsAt - now,
    everyMs: rate === null ? 0 : 1_000 / rate,
    wakesInMs: least?.wakesAt ? Math.max(0, least.wakesAt - now) : null,
    wakesAt: least?.wakesAt ? new Date(least.wakesAt) : null,
    failures: pace.failure_count,
    refusals:
      pace.refused_digest === null
        ? null
        : { digest: pace.refused_digest, count: pace.refused_count },
    isProbe: pace.failure_count >= CIRCUIT_FAILURES,
    isBare: pace.bare_until !== null && pace.bare_until.getTime() > now,
    held: { pace, rate, startsAt },
  };
};

/**
 * The least of what circuit, ramp and rate leave, for this claim alone until its transaction ends:
 * who claims meanwhile is told 'busy', not made to wait. Say with `spend` what was taken.
 */
export const allow = async (scope: Scope, providerId: string): Promise<Allowance> => {
  const plan = await findPlan(scope, providerId);
  if (!plan) return UNLIMITED;
  const { rate_per_second, ramp_started_on: started_on, ramp_stages: stages } = plan;
  const ramp = started_on && stages ? { started_on, stages } : null;
  if (!plan.is_paced) {
    if (rate_per_second === null && ramp === null) return UNLIMITED;
    await insertPace(scope, providerId);
  }
  const pace = await takePace(scope, providerId);
  if (!pace) return { ...UNLIMITED, sends: 0, limitedBy: 'busy', wakesInMs: BUSY_MS };
  return toAllowance(pace, rateAt(rate_per_second, learnedOf(pace), pace.now.getTime()), ramp);
};

/** Whether a claim took all it may, so that more has to wait for this limit. */
export const isReached = ({ sends, isReserved }: Allowance, taken: number): boolean =>
  taken >= sends || isReserved;

/** Writes what an owner's claim took of what it was allowed, and whether somebody has to come back for more. */
export const spend = async (
  scope: Scope,
  providerId: string,
  allowance: Allowance,
  { taken, owner }: { taken: number; owner: string },
): Promise<void> => {
  const { held, isProbe, wakesAt } = allowance;
  if (!held) return;
  const { pace, rate, startsAt } = held;
  const day = dayOf(pace.now.getTime());
  await writePace(scope, providerId, {
    ...pace,
    next_at:
      rate === null || taken === 0 ? pace.next_at : new Date(startsAt + (taken * 1_000) / rate),
    ...(isProbe && taken > 0
      ? { opened_until: new Date(pace.now.getTime() + CIRCUIT_PROBE_MS), probed_by: owner }
      : {}),
    ramp_day: day,
    ramp_count: (pace.ramp_day === day ? pace.ramp_count : 0) + taken,
    wakes_at: isReached(allowance, taken) ? wakesAt : null,
  });
};
