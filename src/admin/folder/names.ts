import { createHash } from 'node:crypto';
import { FolderError } from './folder_error.ts';

const KEY_CHARS_MAX = 50;
const DIGEST_CHARS = 8;

/** Of a name without any letter or digit there is nothing else to go by. */
const digestOf = (name: string): string =>
  createHash('sha256').update(name).digest('hex').slice(0, DIGEST_CHARS);

/** What a thing is called in a folder: its name, in whatever letters it is, as a file may be called. */
export const toKey = (name: string): string => {
  const words = name
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}]+/gu, '_')
    .replaceAll(/^_+|_+$/g, '');
  const key = words === '' ? `n${digestOf(name)}` : words.replace(/^(?=[\p{M}\p{N}])/u, 'n');
  return Array.from(key).slice(0, KEY_CHARS_MAX).join('');
};

type Named = { name: string };

/**
 * Things by their keys, the oldest first: whatever comes later and would be called the same has a digest of its name
 * behind it. Two of one name could not be told apart when the folder is applied: that is refused.
 */
export const byKey = <T extends Named>(what: string, things: readonly T[]): Map<string, T> => {
  const found = new Map<string, T>();
  const names = new Set<string>();
  for (const thing of things) {
    if (names.has(thing.name))
      throw new FolderError(`Two ${what} are called "${thing.name}". Rename one first.`);
    names.add(thing.name);
    const key = toKey(thing.name);
    found.set(found.has(key) ? `${key}_${digestOf(thing.name)}` : key, thing);
  }
  return found;
};

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

/** What a step tells profiles is called as its author likes. */
const namesTraits = (value: Record<string, unknown>): boolean => value['kind'] === 'update_profile';

/** A JSON value in which one member stands for another, wherever it is: a key for an id, or the other way round. */
export const renamed = (
  value: unknown,
  from: string,
  { to, read }: { to: string; read: (text: string) => string },
): unknown => {
  if (Array.isArray(value)) return value.map((item) => renamed(item, from, { to, read }));
  if (!isObject(value) || namesTraits(value)) return value;
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
  if (!isObject(value) || namesTraits(value)) return [];
  return Object.entries(value).flatMap(([member, inner]) =>
    member === name && typeof inner === 'string' ? [inner] : listMembers(inner, name),
  );
};
