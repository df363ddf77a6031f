import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { z } from 'zod';

/** Files by their paths in the folder, with slashes. */
export type Folder = Map<string, string>;

const OURS = '{templates,segments,automations}/*.{json,html,mjml,txt}';

export const readFolder = (path: string): Folder =>
  new Map(
    globSync(OURS, { cwd: path })
      .toSorted()
      .map((file) => [
        // Some disks spell accents apart.
        file.split(sep).join('/').normalize('NFC'),
        readFileSync(join(path, file), 'utf8'),
      ]),
  );

/** Writes what is different. Answers which files of ours are there that are not in it: they are left alone. */
export const writeFolder = (path: string, folder: Folder): string[] => {
  mkdirSync(path, { recursive: true });
  const there = readFolder(path);
  for (const [file, content] of folder) {
    if (there.get(file) === content) continue;
    mkdirSync(dirname(join(path, file)), { recursive: true });
    writeFileSync(join(path, file), content);
  }
  return [...there.keys()].filter((file) => !folder.has(file));
};

export const toJson = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** What the JSON files of one kind say, by their keys. */
export const readKind = <S extends z.ZodType>(
  folder: Folder,
  kind: string,
  schema: S,
): Map<string, z.output<S>> => {
  const found = new Map<string, z.output<S>>();
  for (const [file, content] of folder) {
    const [, key] = new RegExp(`^${kind}/([^/]+)\\.json$`).exec(file) ?? [];
    if (key === undefined) continue;
    try {
      found.set(key, schema.parse(JSON.parse(content)));
    } catch (error) {
      const says = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
      throw new Error(`${file}: ${says}`, { cause: error });
    }
  }
  return found;
};
