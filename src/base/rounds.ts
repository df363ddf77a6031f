/**
 * Does the work of many projects, one batch of each in turn, so that a large one holds up no other. A batch starts
 * after where the one before ended, and returns where it ended, or null when the project is done. Ends between two
 * batches once the signal aborts.
 */
export const inRounds = async (
  projects: AsyncIterable<string>,
  first: string,
  signal: AbortSignal,
  doBatch: (projectId: string, after: string) => Promise<string | null>,
): Promise<void> => {
  const rest = new Map<string, string>();
  const go = async (projectId: string, after: string): Promise<void> => {
    const end = await doBatch(projectId, after);
    if (end === null) rest.delete(projectId);
    else rest.set(projectId, end);
  };
  for await (const projectId of projects) {
    if (signal.aborted) return;
    await go(projectId, first);
  }
  while (rest.size > 0)
    for (const [projectId, after] of rest) {
      if (signal.aborted) return;
      await go(projectId, after);
    }
};
