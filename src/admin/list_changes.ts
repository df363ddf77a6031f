const isBranch = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Every leaf of a JSON value by its path. */
const leavesOf = (value: unknown, path = ''): [string, string][] =>
  isBranch(value) && Object.keys(value).length > 0
    ? Object.entries(value).flatMap(([name, inner]) => leavesOf(inner, `${path}/${name}`))
    : [[path, JSON.stringify(value)]];

/** What is different in the second of two JSON values, line by line: what went, and what came. */
export const listChanges = (from: object, to: object): string[] => {
  const before = new Map(leavesOf(from));
  const after = new Map(leavesOf(to));
  const paths = [...new Set([...before.keys(), ...after.keys()])].toSorted();
  return paths.flatMap((path) => {
    const [old, fresh] = [before.get(path), after.get(path)];
    if (old === fresh) return [];
    return [
      ...(old === undefined ? [] : [`- ${path} ${old}`]),
      ...(fresh === undefined ? [] : [`+ ${path} ${fresh}`]),
    ];
  });
};
