/** Ends a `switch` over every case of a union: a case that is missing does not compile. Throws when one is reached. */
export const assertNever = (value: never): never => {
  throw new Error(`unexpected case: ${JSON.stringify(value)}`);
};
