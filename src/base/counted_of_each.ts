/** How far a list counts: of each thing that it shows so many rows, and of all together so many. */
export type CountedRows = { each: number; together: number };

/** How many rows are counted of each of so many things: a list costs no more for being longer. */
export const countedOfEach = ({ each, together }: CountedRows, things: number): number =>
  Math.min(each, Math.floor(together / Math.max(1, things)));
