/** What the service promises to whoever attacks it, in one sentence, and the tests that show it. */
export type Promised = {
  says: string;
  /** Titles of tests, by the file that they are in, from `test/` on. */
  shown: Readonly<Record<string, readonly string[]>>;
};

/** An area of the threat model, by its name there. */
export type Area = { area: string; promises: readonly Promised[] };
