import { z } from 'zod';
import { AutomationFile } from './automation_file.ts';
import { readKind } from './files.ts';
import type { Folder } from './files.ts';
import { FolderError } from './folder_error.ts';
import { listMembers } from './names.ts';

const AnyFile = z.looseObject({ name: z.string() });

/** The segments that some of them ask about, with themselves. */
const withAsked = (folder: Folder, keys: readonly string[]): Set<string> => {
  const files = readKind(folder, 'segments', AnyFile);
  const all = new Set(keys);
  for (const key of all) for (const used of listMembers(files.get(key), 'segment')) all.add(used);
  return all;
};

/** The part of a folder that one automation needs: what it sends, and the segments that it asks about. */
export const onlyWith = (folder: Folder, name: string): Folder => {
  const [found] = [...readKind(folder, 'automations', AutomationFile)].filter(
    ([, file]) => file.name === name,
  );
  if (!found) throw new FolderError(`There is no automation "${name}".`);
  const [automation, file] = found;
  const needed: Record<string, Set<string>> = {
    automations: new Set([automation]),
    segments: withAsked(folder, listMembers(file.definition, 'segment')),
    templates: new Set(listMembers(file.definition, 'template')),
  };
  return new Map(
    [...folder].filter(([path]) => {
      const [kind = '', rest = ''] = path.split('/');
      return needed[kind]?.has(rest.replace(/\.\w+$/, ''));
    }),
  );
};
