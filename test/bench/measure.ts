/** One figure beside what it is compared with, both taken in the same run. */
export type Comparison = {
  name: string;
  unit: string;
  measured: number[];
  comparedWith: string;
  comparison: number[];
  /** The ratio measured / comparison that counts as good. */
  good: { atMost: number } | { atLeast: number };
  /** A second bound, in the figure's own unit. */
  bound?: { atMost: number };
};

/** Milliseconds since 1970, with fractions: processes of one machine agree about it. */
export const now = (): number => performance.timeOrigin + performance.now();

export const quantile = (values: readonly number[], share: number): number => {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
};

export const median = (values: readonly number[]): number => quantile(values, 0.5);

const round = (value: number): string => value.toPrecision(3);

const spread = (values: readonly number[]): string =>
  `${round(median(values))} [${round(Math.min(...values))} … ${round(Math.max(...values))}]`;

const verdict = ({ good, bound, measured }: Comparison, ratio: number): string => {
  const isGood = 'atMost' in good ? ratio <= good.atMost : ratio >= good.atLeast;
  const isBounded = bound === undefined || median(measured) <= bound.atMost;
  const wanted = 'atMost' in good ? `≤ ${good.atMost}` : `≥ ${good.atLeast}`;
  const bounded = bound ? `; ${isBounded ? '' : 'not '}within ${bound.atMost}` : '';
  return `${isGood ? 'good' : 'not reached'} (${wanted})${bounded}`;
};

/** A comparison as it is printed and kept. */
export type Report = {
  name: string;
  unit: string;
  measured: string;
  comparedWith: string;
  comparison: string;
  ratio: string;
  verdict: string;
};

/** The rounds of a comparison as medians with their spread, and the ratio round by round. */
export const report = (comparison: Comparison): Report => {
  const { name, unit, measured, comparedWith } = comparison;
  const ratios = measured.map(
    (value, round) => value / (comparison.comparison[round] ?? Number.NaN),
  );
  return {
    name,
    unit,
    measured: spread(measured),
    comparedWith,
    comparison: spread(comparison.comparison),
    ratio: spread(ratios),
    verdict: verdict(comparison, median(ratios)),
  };
};
