import { z } from 'zod';
import { isDeeperThan } from '../../base/json_depth.ts';
import { isStorableJson, NOT_STORABLE } from '../../base/text.ts';
import type { Folder } from './disk.ts';
import { FolderError } from './folder_error.ts';

export { readFolder, renewVersions, sayDisk, sayNothingIn, writeFolder } from './disk.ts';
export type { Folder };

/** Deeper than any definition or sample may be; past it nobody looks. */
const LEVELS_MAX = 40;

export const toJson = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

const read = <S extends z.ZodType>(schema: S, content: string): z.output<S> => {
  const value: unknown = JSON.parse(content);
  if (isDeeperThan(value, LEVELS_MAX)) throw new Error(`more than ${LEVELS_MAX} levels deep`);
  if (!isStorableJson(value)) throw new Error(NOT_STORABLE);
  return schema.parse(value);
};

/** The one that is applied last would win, and nobody would hear of the other. */
const refuseTwins = (kind: string, things: ReadonlyMap<string, { name: string }>): void => {
  const keyOf = new Map<string, string>();
  for (const [key, { name }] of things) {
    const other = keyOf.get(name);
    if (other !== undefined)
      throw new FolderError(
        `${kind}/${other}.json and ${kind}/${key}.json are both called ${JSON.stringify(name)}: ` +
          'give one of them another name, or take it away.',
      );
    keyOf.set(name, key);
  }
};

/** What the JSON files of one kind say, by their keys. */
export const readKind = <S extends z.ZodType<{ name: string }>>(
  folder: Folder,
  kind: string,
  schema: S,
): Map<string, z.output<S>> => {
  const found = new Map<string, z.output<S>>();
  for (const [file, content] of folder) {
    const [, key] = new RegExp(`^${kind}/([^/]+)\\.json$`).exec(file) ?? [];
    if (key === undefined) continue;
    try {
      found.set(key, read(schema, content));
    } catch (cause) {
      const says = cause instanceof z.ZodError ? z.prettifyError(cause) : String(cause);
      throw new FolderError(`${file}: ${says}`, { cause });
    }
  }
  refuseTwins(kind, found);
  return found;
};
