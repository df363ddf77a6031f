import * as automations from '../../automations/automations.ts';
import type { Scope } from '../../base/db.ts';
import type { PublicAddress } from '../../base/public_address.ts';
import { walkPages } from '../../base/pages.ts';
import type * as rendering from '../../rendering/rendering.ts';
import type { Applying } from './applying.ts';
import {
  activateApplied,
  applyFile,
  AutomationFile,
  exportFile,
  listOwnTemplates,
} from './automation_file.ts';
import { readKind, toJson } from './files.ts';
import type { Folder } from './files.ts';
import { FolderError } from './folder_error.ts';
import { inFile } from './in_file.ts';
import type { LimitedFolder } from './limited_folder.ts';
import { byKey, listMembers, renamed } from './names.ts';
import type { SegmentIds } from './segments.ts';
import type { Mails } from './templates.ts';

const PAGE_MAX = 200;

/** Endpoints of webhook steps, which a folder names as people do: all there are, the oldest first. */
const listEndpoints = async (scope: Scope) => {
  const found: automations.EndpointRow[] = [];
  await walkPages<automations.EndpointRow>(PAGE_MAX, async (last) => {
    const beforeId = last?.endpoint_id ?? null;
    const page = await automations.listEndpoints(scope, { limit: PAGE_MAX, beforeId });
    found.push(...page);
    return page;
  });
  return found.toReversed();
};

const byName = async (scope: Scope): Promise<Map<string, string[]>> => {
  const groups = Map.groupBy(await listEndpoints(scope), ({ name }) => name);
  return new Map([...groups].map(([name, those]) => [name, those.map((one) => one.endpoint_id)]));
};

type Living = { automation_id: string; name: string };

/** The automations that are not archived: all of them, or those of a name. */
export const listLiving = async (
  scope: Scope,
  folder: LimitedFolder,
  name?: string,
): Promise<readonly Living[]> => {
  if (name !== undefined) return automations.listAutomationsNamed(scope, name, 2);
  const living: Living[] = [];
  await walkPages<Living>(PAGE_MAX, async (last) => {
    const beforeId = last?.automation_id ?? null;
    const page = await automations.listAutomations(scope, { limit: PAGE_MAX, beforeId });
    living.push(...page.filter(({ status }) => status !== 'archived'));
    folder.expectFiles(living.length);
    return page;
  });
  return living.toReversed();
};

/** Which templates some automations send, in the latest version of each. */
export const listTemplatesOf = async (
  scope: Scope,
  living: readonly Living[],
): Promise<Set<string>> => {
  const found = new Set<string>();
  for (const { automation_id: id } of living) {
    const kept = await automations.findAutomation(scope, id);
    const definition = kept && (await automations.findVersion(scope, id, kept.latest_version));
    for (const step of Object.values(definition?.steps ?? {}))
      if (step.kind === 'send_email') found.add(step.template_id);
  }
  return found;
};

type Exported = { living: readonly Living[]; mails: Mails; segmentIds: SegmentIds };

/** Automations, with the keys of what they send and ask about. */
export const exportAutomations = async (
  scope: Scope,
  folder: Folder,
  { living, mails, segmentIds }: Exported,
): Promise<void> => {
  const keys = new Map([...segmentIds].map(([key, id]) => [id, key]));
  const read = (id: string) => keys.get(id) ?? id;
  const endpoints = new Map((await listEndpoints(scope)).map((one) => [one.endpoint_id, one.name]));
  const called = (id: string) => endpoints.get(id) ?? id;
  for (const [key, { automation_id }] of byKey('automations', living)) {
    const file = await exportFile(scope, automation_id, mails);
    const asFile = renamed(file, 'segment_id', { to: 'segment', read });
    const named = renamed(asFile, 'endpoint_id', { to: 'endpoint', read: called });
    folder.set(`automations/${key}.json`, toJson(named));
  }
};

/** The endpoint of the project that a file calls by its name. */
const findEndpoint = (
  endpoints: ReadonlyMap<string, string[]>,
  file: string,
  name: string,
): string => {
  const [id, ...others] = endpoints.get(name) ?? [];
  if (id === undefined)
    throw new FolderError(`${file} tells the endpoint "${name}": make it first, with its URL`);
  if (others.length > 0)
    throw new FolderError(
      `${file} tells the endpoint "${name}", and several are called so: rename them`,
    );
  return id;
};

type Given = {
  mails: Mails;
  segmentIds: SegmentIds;
  sender: string | undefined;
  /** Whether each is switched on. */
  activates: boolean;
  site: PublicAddress;
} & Applying;

/**
 * Makes the project's automations of those names what the files say. One that is active goes on with its new
 * version; a new one is a draft, which somebody looks at and activates, unless it is said otherwise.
 */
export const applyAutomations = async (
  scope: Scope,
  folder: Folder,
  given: Given,
): Promise<void> => {
  const endpoints = await byName(scope);
  for (const [key, file] of readKind(folder, 'automations', AutomationFile)) {
    const missing = listMembers(file.definition, 'segment').find(
      (one) => !given.segmentIds.has(one),
    );
    if (missing !== undefined)
      throw new FolderError(
        `automations/${key}.json names "${missing}": there is no segments/${missing}.json`,
      );
    const read = (used: string) => given.segmentIds.get(used) ?? used;
    const withSegments = renamed(file.definition, 'segment', { to: 'segment_id', read });
    const find = (name: string) => findEndpoint(endpoints, `automations/${key}.json`, name);
    const definition = renamed(withSegments, 'endpoint', { to: 'endpoint_id', read: find });
    const asked = { ...file, definition: definition as AutomationFile['definition'] };
    const applied = await inFile(`automations/${key}`, () =>
      applyFile(scope, asked, { ...given, shared: given.mails }),
    );
    const kept = await automations.findAutomation(scope, applied.automationId);
    const isActive = kept?.status === 'active';
    const isNext = applied.changes.length > 0 && isActive;
    const isSwitched = given.activates && !(isActive && kept.active_version === applied.version);
    if (isNext || given.activates)
      await inFile(`automations/${key}`, () => activateApplied(scope, applied, given.site));
    const lines = isSwitched ? [`version ${applied.version} is active`] : [];
    const { changes, was, version } = applied;
    given.say(`automations/${key}`, { changes: [...changes, ...lines], was, version });
  }
};

/** The templates that files of automations have in themselves, by where they are. */
export const listInnerTemplates = async (
  folder: Folder,
): Promise<Map<string, rendering.TemplateText>> => {
  const found = new Map<string, rendering.TemplateText>();
  for (const [key, file] of readKind(folder, 'automations', AutomationFile)) {
    const inner = await inFile(`automations/${key}`, async () => listOwnTemplates(file));
    for (const one of inner) found.set(`automations/${key}: ${one.key}`, one.text);
  }
  return found;
};
