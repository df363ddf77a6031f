/** How far ahead of the clock a claim may take what a rate allows. */
export const RATE_AHEAD_MS = 1_000;
/** How far ahead a claim reaches where marketing has taken all up to RATE_AHEAD_MS. */
export const RESERVED_AHEAD_MS = 1_500;
/** What a throttling provider taught is forgotten: the learned rate doubles each time this has passed. */
export const RATE_RECOVERY_MS = 30_000;
/** However often a provider throttles, it is asked this often: one in ten seconds. */
export const LEARNED_RATE_MIN = 0.1;
/** A burst of throttled sends teaches once. */
export const LEARN_PAUSE_MS = 5_000;
/** Doubled so often, nothing of what was learned is left. */
const DOUBLINGS_MAX = 30;

export type Learned = { rate: number; at: number };

/** The rate a second that is in effect: what is configured, or less while a throttling is remembered. Null: none. */
export const rateAt = (
  configured: number | null,
  learned: Learned | null,
  now: number,
): number | null => {
  if (!learned) return configured;
  const doublings = Math.max(0, now - learned.at) / RATE_RECOVERY_MS;
  if (doublings > DOUBLINGS_MAX) return configured;
  return Math.min(configured ?? Infinity, learned.rate * 2 ** doublings);
};

/** Until when a throttling provider takes nothing. */
export type Pause = { until: number };

/**
 * Returns until when a throttling provider takes nothing; null when `nextAt` is no further away than a rate uses up by
 * itself.
 */
export const pauseAt = (
  rate: number | null,
  learned: Learned | null,
  nextAt: number,
  now: number,
): Pause | null => {
  const aheadMs = RESERVED_AHEAD_MS + (rate === null ? 0 : 1_000 / rate);
  if (!learned || nextAt - now <= aheadMs) return null;
  return { until: nextAt };
};

export type RateGrant = {
  sends: number;
  /** Whether marketing gets only a quarter of it: the usual claims are ahead enough. */
  isReserved: boolean;
  startsAt: number;
  wakesAt: number;
};

/**
 * What a rate gives to one claim: how many sends, when the first may start (the others follow one
 * interval after the other), and when to come back for more. `nextAt`: up to there it is given away.
 */
export const grantRate = (rate: number, nextAt: number, now: number): RateGrant => {
  const startsAt = Math.max(now, nextAt);
  const isReserved = startsAt > now + RATE_AHEAD_MS / 2;
  const until = now + (isReserved ? RESERVED_AHEAD_MS : RATE_AHEAD_MS);
  const fitting = Math.floor(((until - startsAt) * rate) / 1_000);
  const sends = Math.max(isReserved ? 0 : 1, fitting);
  const wakesAt = wakesAfter(rate, isReserved ? startsAt : startsAt + (sends * 1_000) / rate);
  return { sends, isReserved, startsAt, wakesAt };
};

/** When half of what may be taken ahead is free again; with slow rates, when the next send may start. */
const wakesAfter = (rate: number, nextAt: number): number =>
  (rate * RATE_AHEAD_MS) / 1_000 >= 2 ? nextAt - RATE_AHEAD_MS / 2 : nextAt;

/**
 * What a throttling answer teaches: half of what was in effect, or of what had really gone out. Null while an
 * answer of the same burst has taught already.
 */
export const learnRate = (
  inEffect: number | null,
  observed: number,
  learned: Learned | null,
  now: number,
): number | null => {
  if (learned && now - learned.at < LEARN_PAUSE_MS) return null;
  return Math.max(LEARNED_RATE_MIN, Math.min(inEffect ?? Infinity, Math.max(observed, 1)) / 2);
};
