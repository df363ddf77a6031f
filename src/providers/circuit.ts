/** So many failures of the provider one after the other open its circuit. */
export const CIRCUIT_FAILURES = 5;
export const CIRCUIT_OPEN_SECONDS = 15;
export const CIRCUIT_OPEN_MAX_SECONDS = 15 * 60;
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

/** How long the circuit stays open after so many failures; null while it stays closed. Half of it is jitter. */
export const openForSeconds = (failures: number, random = Math.random()): number | null => {
  if (failures < CIRCUIT_FAILURES) return null;
  const doubled = CIRCUIT_OPEN_SECONDS * 2 ** Math.min(failures - CIRCUIT_FAILURES, 30);
  return Math.min(CIRCUIT_OPEN_MAX_SECONDS, doubled) * (0.5 + random / 2);
};
