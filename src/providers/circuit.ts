/** So many failures of the provider one after the other open its circuit. */
export const CIRCUIT_FAILURES = 5;
export const CIRCUIT_OPEN_SECONDS = 15;
export const CIRCUIT_OPEN_MAX_SECONDS = 15 * 60;
/** With each further failure it stays open so many times as long: an outage of 90 seconds costs 76 more at most. */
export const CIRCUIT_GROWTH = 1.5;
/** How long a probe has the provider for itself; when its worker dies, it is given back as soon as that is known. */
export const CIRCUIT_PROBE_MS = 60_000;

export type CircuitState = 'closed' | 'open' | 'probing';

/** Closed: used as usual. Open: nobody tries. Probing: the time has come for one send to find out. */
export const circuitAt = (
  failures: number,
  openedUntil: number | null,
  now: number,
): CircuitState => {
  if (failures < CIRCUIT_FAILURES) return 'closed';
  return openedUntil !== null && openedUntil > now ? 'open' : 'probing';
};

/** Returns for how many seconds the circuit is open after so many failures; null: it is closed. Half is jitter. */
export const openForSeconds = (failures: number, random = Math.random()): number | null => {
  if (failures < CIRCUIT_FAILURES) return null;
  const grown = CIRCUIT_OPEN_SECONDS * CIRCUIT_GROWTH ** Math.min(failures - CIRCUIT_FAILURES, 30);
  return Math.min(CIRCUIT_OPEN_MAX_SECONDS, grown) * (0.5 + random / 2);
};

/** How long a hold of an account lasts before a probe, at first and at most: its limit may pass at any time. */
const HOLD_SECONDS = 60;
const HOLD_MAX_SECONDS = 3_600;

/**
 * Returns for how many seconds nothing is given to a provider that refuses the account: as long as it says, else a
 * minute, doubled with each probe that it refuses. Up to a tenth more is jitter.
 */
export const holdForSeconds = (
  probes: number,
  hint: number | undefined,
  random = Math.random(),
): number => {
  const doubled = HOLD_SECONDS * 2 ** Math.min(probes, 30);
  const seconds = hint ?? Math.min(HOLD_MAX_SECONDS, doubled);
  return seconds * (1 + random / 10);
};
