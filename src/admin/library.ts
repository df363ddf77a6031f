import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import * as automations from '../automations/automations.ts';
import type { Scope } from '../base/db.ts';
import { Refusal } from '../base/refusal.ts';
import * as providers from '../providers/providers.ts';
import { AutomationFile } from './folder/automation_file.ts';
import { readFolder, readKind } from './folder/files.ts';
import type { Folder } from './folder/files.ts';
import { applyFolder } from './folder/folder.ts';

/** Folders with an automation and its templates that any project can switch on. */
export const READY_FOLDER = join(import.meta.dirname, 'ready');

/** What each is called in the folder of ready automations. */
export const listReadyKeys = (): string[] => readdirSync(READY_FOLDER).toSorted();

const read = (key: string): { folder: Folder; file: AutomationFile } => {
  if (!listReadyKeys().includes(key))
    throw new Refusal('not_found', { detail: 'There is no such ready automation.' });
  const folder = readFolder(join(READY_FOLDER, key));
  const [file] = readKind(folder, 'automations', AutomationFile).values();
  if (!file) throw new Error(`${key} has no automation`);
  return { folder, file };
};

/** The ready automations: what each is called, what starts it, and how many mails it has. */
export const listReady = () =>
  listReadyKeys().map((key) => {
    const { name, definition } = read(key).file;
    const { event = null } = (definition['trigger'] ?? {}) as { event?: string };
    const steps = Object.values(definition.steps);
    const mails = steps.filter(({ kind }) => kind === 'send_email').length;
    return { key, name, event, mails };
  });

/** Puts a ready automation into a project as a draft, with its templates. Answers its id. */
export const adoptReady = async (
  scope: Scope,
  key: string,
  providerId: string,
): Promise<string> => {
  const { folder, file } = read(key);
  if (await automations.findAutomationByName(scope, file.name))
    throw new Refusal('automation_state', {
      detail: `There is an automation called “${file.name}” already: open it, or rename it first.`,
    });
  const sender = await providers.findSender(scope, providerId);
  if (sender === null)
    throw new Refusal('invalid_request', {
      issues: [{ path: '/providerId', message: 'there is no such provider' }],
    });
  await applyFolder(scope, folder, { sender });
  const made = await automations.findAutomationByName(scope, file.name);
  if (!made) throw new Error(`${key} made no automation`);
  return made.automation_id;
};
