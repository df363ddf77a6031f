/** A warm-up plan: how many sends a day, from its first stage to its last, after which there is no limit. */
export type Ramp = { started_on: string; stages: readonly number[] };

/** The plan of a provider that says nothing else: 50 → 500 → 5,000 a day over two weeks. */
export const RAMP_STAGES_DEFAULT: readonly number[] = [50, 500, 5_000];
/** How long a plan takes, however many stages it has. */
export const RAMP_DAYS = 14;
const DAY_MS = 24 * 3_600_000;

/** Marketing leaves so much of a day's allowance to transactional email. */
export const RAMP_RESERVED_SHARE = 0.1;

/** What is left of an allowance without a share, rounded up; at least one. */
const allBut =
  (share: number) =>
  (allowance: number): number =>
    Math.max(Math.min(1, allowance), allowance - Math.ceil(allowance * share));

/** How much of an allowance marketing may use. */
export const marketingAllowance = allBut(RAMP_RESERVED_SHARE);

/** Email that pages caused leaves so much of a day's allowance to email of servers. */
export const RAMP_KEPT_FROM_PAGES_SHARE = 0.25;

/** How much of an allowance email of pages may use. */
export const pagesAllowance = allBut(RAMP_KEPT_FROM_PAGES_SHARE);

/** The day in UTC, like all that we count by day: a provider is used from every time zone. */
export const dayOf = (now: number): string => new Date(now).toISOString().slice(0, 10);

export const nextDayAt = (day: string): number => Date.parse(`${day}T00:00:00Z`) + DAY_MS;

/**
 * How many sends a day allows: the stages lie evenly over the two weeks, and each day between two of them
 * grows by the same factor. None before its first day, null (no limit) after its last.
 */
export const rampAllowance = ({ started_on, stages }: Ramp, day: string): number | null => {
  const at = Math.round((Date.parse(day) - Date.parse(started_on)) / DAY_MS);
  if (at < 0) return 0;
  if (at >= RAMP_DAYS) return null;
  const position = (at / (RAMP_DAYS - 1)) * (stages.length - 1);
  const before = stages[Math.floor(position)] ?? 0;
  const after = stages[Math.ceil(position)] ?? before;
  return Math.round(before * (after / before) ** (position % 1));
};
