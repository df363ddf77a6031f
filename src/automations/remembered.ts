/** Reads something once, when it is first needed, and returns the same until `forget` is called. */
export const remembered = <T>(read: () => Promise<T>) => {
  let answer: Promise<T> | null = null;
  return {
    get: (): Promise<T> => (answer ??= read()),
    forget: (): void => {
      answer = null;
    },
  };
};
