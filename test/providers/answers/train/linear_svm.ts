// A linear support vector machine, trained by dual coordinate descent (Hsieh et al., 2008) with squared hinge loss.

/** The columns of an example whose value is 1; all others are 0. The length of each example becomes 1. */
export type Row = readonly number[];

const COST = 1.5;
const ROUNDS_MAX = 60;
/** Where a round changes nothing by more than this, the weights have been found. */
const ENOUGH = 0.01;

/** Returns numbers from 0 to 1 that are the same in each run (mulberry32). */
const randomFrom = (seed: number) => {
  let state = seed;
  return (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

const shuffle = (order: Int32Array, random: () => number): void => {
  for (let last = order.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    const kept = order[last] ?? 0;
    order[last] = order[other] ?? 0;
    order[other] = kept;
  }
};

/** Returns the weight of each column for `isOf`, which says whether an example is of the class. */
export const trainClass = (
  rows: readonly Row[],
  columns: number,
  isOf: readonly boolean[],
): Float64Array => {
  const weights = new Float64Array(columns);
  const alphas = new Float64Array(rows.length);
  const order = Int32Array.from(rows.keys());
  const random = randomFrom(columns);
  const slack = 0.5 / COST;
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    let largest = 0;
    shuffle(order, random);
    for (const at of order) {
      const row = rows[at] ?? [];
      const sign = isOf[at] === true ? 1 : -1;
      const value = 1 / Math.sqrt(row.length);
      let sum = 0;
      for (const column of row) sum += weights[column] ?? 0;
      const alpha = alphas[at] ?? 0;
      const gradient = sign * sum * value - 1 + slack * alpha;
      const changed = Math.max(0, alpha - gradient / (1 + slack));
      const step = changed - alpha;
      if (step === 0) continue;
      largest = Math.max(largest, Math.abs(step));
      alphas[at] = changed;
      for (const column of row) weights[column] = (weights[column] ?? 0) + step * sign * value;
    }
    if (largest < ENOUGH) break;
  }
  return weights;
};
