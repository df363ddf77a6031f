import * as automations from '../../automations/automations.ts';
import type { Scope } from '../../base/db.ts';
import type { PublicAddress } from '../../base/public_address.ts';
import type * as rendering from '../../rendering/rendering.ts';
import * as segments from '../../segments/segments.ts';
import type { Become, Say } from './applying.ts';
import { applyAutomations, exportAutomations, listLiving, listTemplatesOf } from './automations.ts';
import type { Folder } from './files.ts';
import { FolderError } from './folder_error.ts';
import { ANY_SIZE, LimitedFolder } from './limited_folder.ts';
import type { FolderSize } from './limited_folder.ts';
import { onlyWith } from './only.ts';
import { applySegments, exportSegments } from './segments.ts';
import { applyTemplates, exportTemplates } from './templates.ts';

/** What a project sends and to whom, as files in which nothing is an id of one project; of one automation, or all. */
export const exportFolder = async (
  scope: Scope,
  automation?: string,
  size: FolderSize = ANY_SIZE,
): Promise<Folder> => {
  const folder = new LimitedFolder(size);
  const living = await listLiving(scope, folder, automation);
  const sent = automation === undefined ? null : await listTemplatesOf(scope, living);
  const mails = await exportTemplates(scope, folder, sent);
  const segmentIds = await exportSegments(scope, folder);
  await exportAutomations(scope, folder, { living, mails, segmentIds });
  return automation === undefined ? folder : onlyWith(folder, automation);
};

/** What became of each file. */
export type Told = ({ file: string } & Become)[];

/** How things were when somebody looked, by their files. */
export type Seen = Readonly<Record<string, string | null>>;

type Options = {
  /** Where links in emails lead, which an activation checks; nowhere unless it is given. */
  site?: PublicAddress;
  sender?: string | undefined;
  activates?: boolean;
  /** What is not any more as it was when it was seen is refused. */
  seen?: Seen | undefined;
  examine?: rendering.Examine | undefined;
};

const NOWHERE: PublicAddress = { publicUrl: 'http://127.0.0.1', isPublicUrlSet: false };

const refuseUnseen = (seen: Seen, file: string, was: string | null): void => {
  if (!Object.hasOwn(seen, file) || seen[file] === was) return;
  throw new FolderError(`Somebody changed ${file} since you looked at it. Look again.`, {
    isStale: true,
  });
};

/** Makes a project what a folder says, all or nothing. What is not in the folder stays as it is. */
export const applyFolder = async (
  scope: Scope,
  folder: Folder,
  { site = NOWHERE, sender, activates = false, seen = {}, examine }: Options = {},
): Promise<Told> => {
  const told: Told = [];
  const say: Say = (file, become) => {
    refuseUnseen(seen, file, become.was);
    told.push({ file, ...become });
  };
  // Folders are applied one after the other: what two would both make has no row yet that either could hold.
  // Segments before automations before templates: so everybody takes them who takes several.
  await segments.holdDefinitions(scope);
  const segmentIds = await applySegments(scope, folder, say);
  await automations.holdAutomations(scope);
  const mails = await applyTemplates(scope, folder, { say, examine });
  const given = { site, mails, segmentIds, sender, activates, say, examine };
  await applyAutomations(scope, folder, given);
  return told;
};
