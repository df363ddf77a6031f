import * as automations from '../../automations/automations.ts';
import type { Scope } from '../../base/db.ts';
import { applyAutomations, exportAutomations } from './automations.ts';
import type { Folder } from './files.ts';
import { onlyWith } from './only.ts';
import { applySegments, exportSegments } from './segments.ts';
import { applyTemplates, exportTemplates } from './templates.ts';

/** What a project sends and to whom, as files in which nothing is an id of one project; of one automation, or all. */
export const exportFolder = async (scope: Scope, automation?: string): Promise<Folder> => {
  const folder: Folder = new Map();
  const mails = await exportTemplates(scope, folder);
  const segmentIds = await exportSegments(scope, folder);
  await exportAutomations(scope, folder, { mails, segmentIds });
  return automation === undefined ? folder : onlyWith(folder, automation);
};

/** What was different in each file, line by line; empty of what was the same. */
export type Told = { file: string; changes: string[] }[];

/** Makes a project what a folder says, all or nothing. What is not in the folder stays as it is. */
export const applyFolder = async (
  scope: Scope,
  folder: Folder,
  { sender, activates = false }: { sender?: string | undefined; activates?: boolean } = {},
): Promise<Told> => {
  const told: Told = [];
  const say = (file: string, changes: string[]) => void told.push({ file, changes });
  await automations.holdAutomations(scope);
  const mails = await applyTemplates(scope, folder, say);
  const segmentIds = await applySegments(scope, folder, say);
  await applyAutomations(scope, folder, { mails, segmentIds, sender, activates }, say);
  return told;
};
