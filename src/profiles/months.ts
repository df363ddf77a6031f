/** A stretch of time with both its ends. */
export type Range = { from: Date; to: Date };

const MONTHS_PER_YEAR = 12;

/** Months counted from the year 0, as the timeline's partitions have them: in UTC. */
const monthOf = (moment: Date): number =>
  moment.getUTCFullYear() * MONTHS_PER_YEAR + moment.getUTCMonth();

const startOf = (month: number): Date =>
  new Date(Date.UTC(Math.floor(month / MONTHS_PER_YEAR), month % MONTHS_PER_YEAR));

/** The months that some range touches and the bounds leave, newest first. */
const listMonths = (ranges: readonly Range[], { from, to }: Partial<Range>): number[] => {
  const months = ranges.flatMap((range) => {
    const first = Math.max(monthOf(range.from), from ? monthOf(from) : -Infinity);
    const last = Math.min(monthOf(range.to), to ? monthOf(to) : Infinity);
    return Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => first + at);
  });
  return [...new Set(months)].toSorted((a, b) => b - a);
};

/**
 * The months that some range touches, newest first, as stretches to read one after another (`to` is
 * exclusive). The newest month comes alone; who has to go on takes more and more months at once, so
 * that a recent page opens one or two and the whole past takes a handful of statements.
 */
export function* stretchesOf(
  ranges: readonly Range[],
  bounds: Partial<Range> = {},
): Generator<Range> {
  const months = listMonths(ranges, bounds);
  let readCount = 0;
  while (readCount < months.length) {
    const last = months[readCount] ?? 0;
    const most = Math.max(1, readCount);
    let count = 1;
    while (count < most && months[readCount + count] === last - count) count += 1;
    yield { from: startOf(last - count + 1), to: startOf(last + 1) };
    readCount += count;
  }
}
