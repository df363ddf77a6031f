/** Returns a number with its noun, such as `1 email` or `1,200 emails`. The plural of the noun ends in `s`. */
export const counted = (count: number, noun: string): string =>
  `${count.toLocaleString()} ${noun}${count === 1 ? '' : 's'}`;
