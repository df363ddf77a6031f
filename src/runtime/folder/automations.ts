import * as automations from '../../automations/automations.ts';
import type { Scope } from '../../base/db.ts';
import { activateApplied, applyFile, AutomationFile, exportFile } from './automation_file.ts';
import { readKind, toJson } from './files.ts';
import type { Folder } from './files.ts';
import { inFile } from './in_file.ts';
import { byKey, listMembers, renamed } from './names.ts';
import type { SegmentIds } from './segments.ts';
import type { Mails } from './templates.ts';

const LISTED_MAX = 1_000;

/** Automations that are not archived, with the keys of what they send and ask about. */
export const exportAutomations = async (
  scope: Scope,
  folder: Folder,
  { mails, segmentIds }: { mails: Mails; segmentIds: SegmentIds },
): Promise<void> => {
  const keys = new Map([...segmentIds].map(([key, id]) => [id, key]));
  const read = (id: string) => keys.get(id) ?? id;
  const rows = await automations.listAutomations(scope, { limit: LISTED_MAX, beforeId: null });
  const living = [];
  for (const row of rows.toReversed()) {
    const kept = await automations.findAutomation(scope, row.automation_id);
    if (kept && kept.status !== 'archived') living.push(kept);
  }
  for (const [key, { automation_id }] of byKey('automations', living)) {
    const file = await exportFile(scope, automation_id, mails);
    const asFile = renamed(file, 'segment_id', { to: 'segment', read });
    folder.set(`automations/${key}.json`, toJson(asFile));
  }
};

type Given = {
  mails: Mails;
  segmentIds: SegmentIds;
  sender: string | undefined;
  /** Whether each is switched on. */
  activates: boolean;
};

/**
 * Makes the project's automations of those names what the files say. One that is active goes on with its new
 * version; a new one is a draft, which somebody looks at and activates, unless it is said otherwise.
 */
export const applyAutomations = async (
  scope: Scope,
  folder: Folder,
  given: Given,
  say: (what: string, changes: string[]) => void,
): Promise<void> => {
  for (const [key, file] of readKind(folder, 'automations', AutomationFile)) {
    const missing = listMembers(file.definition, 'segment').find(
      (one) => !given.segmentIds.has(one),
    );
    if (missing !== undefined)
      throw new Error(
        `automations/${key}.json names "${missing}": there is no segments/${missing}.json`,
      );
    const read = (used: string) => given.segmentIds.get(used) ?? used;
    const definition = renamed(file.definition, 'segment', { to: 'segment_id', read });
    const asked = { ...file, definition: definition as AutomationFile['definition'] };
    const applied = await inFile(`automations/${key}`, () =>
      applyFile(scope, asked, given.sender, given.mails),
    );
    const kept = await automations.findAutomation(scope, applied.automationId);
    const isNext = applied.changes.length > 0 && kept?.status === 'active';
    if (isNext || given.activates)
      await inFile(`automations/${key}`, () => activateApplied(scope, applied));
    const lines = given.activates ? [`version ${applied.version} is active`] : [];
    say(`automations/${key}`, [...applied.changes, ...lines]);
  }
};
