import type { Interceptor } from 'slonik';

/** How often a text is asked before Postgres is to remember it. */
export const PREPARED_AFTER = 3;
/** How many texts are remembered at most; each connection keeps a plan of each that it was asked. */
export const PREPARED_MAX = 200;
/** How many texts are counted at a time: those that are made up anew each time come once and are forgotten. */
export const COUNTED_MAX = 1_000;

/**
 * Lets each connection parse and plan a statement once, which takes longer than most of ours run: statements whose
 * text comes again and again are given a name, under which Postgres remembers them (extended query protocol).
 */
export const makePrepareOften = (): Interceptor => {
  const nameOf = new Map<string, string>();
  const countOf = new Map<string, number>();

  const count = (text: string): void => {
    const times = (countOf.get(text) ?? 0) + 1;
    if (times >= PREPARED_AFTER) {
      countOf.delete(text);
      nameOf.set(text, `often_${nameOf.size + 1}`);
      return;
    }
    const [oldest] = countOf.keys();
    if (countOf.size >= COUNTED_MAX && times === 1 && oldest !== undefined) countOf.delete(oldest);
    countOf.set(text, times);
  };

  return {
    name: 'prepare-often',
    transformQuery: (_context, query) => {
      const name = nameOf.get(query.sql);
      if (name !== undefined) return { ...query, name };
      if (nameOf.size < PREPARED_MAX) count(query.sql);
      return query;
    },
  };
};
