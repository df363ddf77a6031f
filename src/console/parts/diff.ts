export type Line = { kind: 'same' | 'added' | 'removed'; text: string };

/** As many lines are compared; longer texts are said to differ as a whole. */
const COMPARED_LINES_MAX = 2_000;

const whole = (before: string[], after: string[]): Line[] => [
  ...before.map((text): Line => ({ kind: 'removed', text })),
  ...after.map((text): Line => ({ kind: 'added', text })),
];

/** How many lines each two ends of the texts have in common. */
const commonOf = (before: string[], after: string[]): Uint16Array[] => {
  const rows = Array.from({ length: before.length + 1 }, () => new Uint16Array(after.length + 1));
  for (let left = before.length - 1; left >= 0; left -= 1)
    for (let right = after.length - 1; right >= 0; right -= 1) {
      const [row, below] = [rows[left], rows[left + 1]];
      if (!row || !below) continue;
      row[right] =
        before[left] === after[right]
          ? (below[right + 1] ?? 0) + 1
          : Math.max(below[right] ?? 0, row[right + 1] ?? 0);
    }
  return rows;
};

/** What was taken away and what came, line by line. */
export const compareLines = (left: string, right: string): Line[] => {
  const before = left === '' ? [] : left.split('\n');
  const after = right === '' ? [] : right.split('\n');
  if (Math.max(before.length, after.length) > COMPARED_LINES_MAX) return whole(before, after);
  const common = commonOf(before, after);
  const lines: Line[] = [];
  for (let [at, to] = [0, 0]; at < before.length || to < after.length;) {
    const [old, fresh] = [before[at], after[to]];
    if (old !== undefined && old === fresh) {
      lines.push({ kind: 'same', text: old });
      at += 1;
      to += 1;
    } else if (
      fresh === undefined ||
      (old !== undefined && (common[at + 1]?.[to] ?? 0) >= (common[at]?.[to + 1] ?? 0))
    ) {
      lines.push({ kind: 'removed', text: old ?? '' });
      at += 1;
    } else {
      lines.push({ kind: 'added', text: fresh });
      to += 1;
    }
  }
  return lines;
};

const AROUND = 2;

/** Only what changed, with what is just around it; null where lines were left out. */
export const onlyChanges = (lines: readonly Line[]): (Line | null)[] => {
  const isNear = (at: number): boolean =>
    lines.slice(Math.max(0, at - AROUND), at + AROUND + 1).some(({ kind }) => kind !== 'same');
  const shown: (Line | null)[] = [];
  lines.forEach((line, at) => {
    if (isNear(at)) shown.push(line);
    else if (shown.at(-1) !== null) shown.push(null);
  });
  return shown;
};
