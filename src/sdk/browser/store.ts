/** What is kept on the device, under names of our own. */
export type Store = {
  get: (name: string) => string | null;
  set: (name: string, text: string) => void;
  remove: (name: string) => void;
  names: () => string[];
};

const findDisk = (): Storage | null => {
  try {
    return window.localStorage;
  } catch {
    return null;
  }
};

/** localStorage under a prefix. What it refuses is kept in memory, for as long as the page lives. */
export const openStore = (prefix: string): Store => {
  const disk = findDisk();
  const memory = new Map<string, string>();
  return {
    get: (name) => memory.get(name) ?? disk?.getItem(prefix + name) ?? null,
    set: (name, text) => {
      try {
        (disk as Storage).setItem(prefix + name, text);
        memory.delete(name);
      } catch {
        // There is none, it is full, or it refuses.
        memory.set(name, text);
      }
    },
    remove: (name) => {
      memory.delete(name);
      disk?.removeItem(prefix + name);
    },
    names: () => [
      ...memory.keys(),
      ...Object.keys(disk ?? {})
        .filter((name) => name.startsWith(prefix))
        .map((name) => name.slice(prefix.length)),
    ],
  };
};
