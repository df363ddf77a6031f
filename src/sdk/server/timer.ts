/** Waits, then runs; answers how to stop that. Only who `holds` keeps a process alive by it, where that can be chosen. */
export const startTimer = (run: () => void, afterMs: number, holds = false): (() => void) => {
  const timer = setTimeout(run, afterMs);
  if (!holds) (timer as { unref?: () => void }).unref?.();
  return () => clearTimeout(timer);
};
