/** What a thing is called in a folder: its name, as a file may be called. */
export const toKey = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
    .replace(/^(?=\d|$)/, 'n')
    .slice(0, 50);

type Named = { name: string };

/** Things by their keys. Two of one name could not be told apart when the folder is applied: that is refused. */
export const byKey = <T extends Named>(what: string, things: readonly T[]): Map<string, T> => {
  const found = new Map<string, T>();
  for (const thing of things) {
    const key = toKey(thing.name);
    const other = found.get(key);
    if (other)
      throw new Error(
        `Two ${what} would both be called ${key}: "${other.name}" and "${thing.name}". Rename one first.`,
      );
    found.set(key, thing);
  }
  return found;
};

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

/** A JSON value in which one member stands for another, wherever it is: a key for an id, or the other way round. */
export const renamed = (
  value: unknown,
  from: string,
  { to, read }: { to: string; read: (text: string) => string },
): unknown => {
  if (Array.isArray(value)) return value.map((item) => renamed(item, from, { to, read }));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) =>
      name === from && typeof member === 'string'
        ? [to, read(member)]
        : [name, renamed(member, from, { to, read })],
    ),
  );
};

/** The texts that stand in one member, wherever it is. */
export const listMembers = (value: unknown, name: string): string[] => {
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([member, inner]) =>
    member === name && typeof inner === 'string' ? [inner] : listMembers(inner, name),
  );
};
