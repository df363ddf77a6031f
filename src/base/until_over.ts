/**
 * What is told, until the signal says that it is enough: whatever is told then ends without a word, so that a browser
 * comes again. Whoever reads ahead may leave before what they asked for fails: that is nobody's, and ends no process.
 */
export const untilOver = <T>(
  told: AsyncIterator<T>,
  over: AbortSignal,
): AsyncIterableIterator<T, void> => {
  const ask = async (): Promise<IteratorResult<T, void>> => {
    if (!over.aborted) {
      const one = await told.next();
      if (!over.aborted) return one as IteratorResult<T, void>;
    }
    await told.return?.();
    throw over.reason;
  };
  const ahead: AsyncIterableIterator<T, void> = {
    next: () => {
      const asked = ask();
      asked.catch(() => {});
      return asked;
    },
    return: async () => {
      await told.return?.();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]: () => ahead,
  };
  return ahead;
};
