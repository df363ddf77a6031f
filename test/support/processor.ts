/** Milliseconds of processor time that this thread has had: what else runs on the machine does not count. */
export const processorMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};

/** The most processor time, in milliseconds, that one turn of the event loop took while work went on. */
export const longestHold = async (work: () => Promise<unknown>): Promise<number> => {
  let [last, longest] = [processorMs(), 0];
  const look = () => {
    const now = processorMs();
    longest = Math.max(longest, now - last);
    last = now;
  };
  const ticking = setInterval(look, 5);
  await work();
  clearInterval(ticking);
  look();
  return longest;
};
