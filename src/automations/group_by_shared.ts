/**
 * Groups items that share a key, directly or through other items. Groups come in the order of their first items, and
 * the items of a group keep their order.
 */
export const groupByShared = <Item>(
  items: readonly Item[],
  keysOf: (item: Item) => readonly string[],
): Item[][] => {
  const parents = items.map((_, place) => place);
  const rootOf = (place: number): number => {
    const parent = parents[place] ?? place;
    return parent === place ? place : rootOf(parent);
  };
  const firstWith = new Map<string, number>();
  for (const [place, item] of items.entries())
    for (const key of keysOf(item)) {
      const first = firstWith.get(key);
      if (first === undefined) firstWith.set(key, place);
      else {
        const [a, b] = [rootOf(first), rootOf(place)];
        parents[Math.max(a, b)] = Math.min(a, b);
      }
    }
  const groups = Map.groupBy(items.entries(), ([place]) => rootOf(place));
  return [...groups.values()].map((group) => group.map(([, item]) => item));
};
