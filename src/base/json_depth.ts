/**
 * Whether arrays and objects lie inside each other deeper than so many levels; a scalar is on none. Walked with a
 * list of its own: the stack would overflow on what it is asked about.
 */
export const isDeeperThan = (given: unknown, levelsMax: number): boolean => {
  const pending = [{ value: given, level: 1 }];
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { value, level } = next;
    if (typeof value !== 'object' || value === null) continue;
    if (level > levelsMax) return true;
    for (const member of Object.values(value)) pending.push({ value: member, level: level + 1 });
  }
  return false;
};
