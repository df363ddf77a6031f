/** Waits, then runs; answers how to stop that. Only one that `holds` keeps a process alive, where there is a choice. */
export const startTimer = (run: () => void, afterMs: number, holds = false): (() => void) => {
  const timer = setTimeout(run, afterMs);
  if (!holds) (timer as { unref?: () => void }).unref?.();
  return () => clearTimeout(timer);
};
