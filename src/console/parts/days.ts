const DAY_MS = 86_400_000;

/** The beginning of a day of the reader, or of the next one; nothing of no day. */
const startOf = (day: string | undefined, laterMs: number): string | undefined => {
  const at = Date.parse(`${day ?? ''}T00:00`) + laterMs;
  return Number.isNaN(at) ? undefined : new Date(at).toISOString();
};

/** From a day on, and until the end of one, as `2026-01-31`, as moments. */
export const fromDay = (day: string | undefined) => startOf(day, 0);
export const untilDay = (day: string | undefined) => startOf(day, DAY_MS);
