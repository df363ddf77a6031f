/** How many causes are read: a cycle of them has no end. */
export const CAUSES_MAX = 5;

/** Returns an error and its causes, the outermost first, at most CAUSES_MAX; none for a value that is no error. */
export const listCauses = (error: unknown): Error[] => {
  const causes: Error[] = [];
  for (let one = error; one instanceof Error && causes.length < CAUSES_MAX; one = one.cause)
    causes.push(one);
  return causes;
};

/** Returns the code of an error, such as an SQLSTATE; undefined where it has none. */
export const codeOf = (error: Error): string | undefined => {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : undefined;
};

/** Whether an error, or one of its causes, has a code of a form. */
export const hasCode = (error: unknown, form: RegExp): boolean =>
  listCauses(error).some((cause) => form.test(codeOf(cause) ?? ''));
