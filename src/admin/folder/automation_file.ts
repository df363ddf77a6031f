import { z } from 'zod';
import * as automations from '../../automations/automations.ts';
import type { Definition } from '../../automations/automations.ts';
import type { Scope } from '../../base/db.ts';
import { newId } from '../../base/ids.ts';
import type { PublicAddress } from '../../base/public_address.ts';
import * as providers from '../../providers/providers.ts';
import * as rendering from '../../rendering/rendering.ts';
import { listChanges } from '../list_changes.ts';
import type { Become } from './applying.ts';
import { FolderError } from './folder_error.ts';
import { listNamedChanges } from './in_names.ts';
import { listSenders } from './senders.ts';
import { toWanted } from './wanted_definition.ts';

const Key = z.string().regex(/^\p{L}[\p{L}\p{M}\p{N}_]{0,59}$/u);
const FileTemplate = z.strictObject({
  subject: z.string(),
  preheader: z.string().nullable().default(null),
  html: z.string(),
  text: z.string().nullable().default(null),
});
type FileTemplate = z.output<typeof FileTemplate>;

/** A step of a file; one that sends names a template of the file, and the sender's address. */
const FileStep = z.looseObject({
  kind: z.string(),
  template: Key.optional(),
  provider: z.string().optional(),
});

/** An automation as a file: nothing in it is an id of one project. */
export const AutomationFile = z.strictObject({
  name: automations.NameOfAutomation,
  /** The version that the file was exported as: a newer one refuses the file. */
  version: z.int().optional(),
  /** What it sends that no file of the folder is: a version of a template that is not the latest. */
  templates: z.record(Key, FileTemplate).default({}),
  definition: z.looseObject({ steps: z.record(z.string(), FileStep) }),
});
export type AutomationFile = z.output<typeof AutomationFile>;

/** What automations are handed of rooms that they do not ask. */
const doors: Parameters<typeof automations.create>[2] = {
  hasProvider: providers.exists,
  isProviderReady: async (scope, providerId) =>
    (await providers.findReady(scope, providerId)) !== null,
  listOutside: providers.listOutside,
  hasTemplate: rendering.isUsable,
  listEventVariables: rendering.listEventVariables,
};

type Mails = Map<string, { templateId: string; version: number }>;

/** Which template of the project each step sends now. */
const mailsOf = (definition: Definition | null): Mails =>
  new Map(
    Object.entries(definition?.steps ?? {}).flatMap(([id, step]) =>
      step.kind === 'send_email'
        ? [[id, { templateId: step.template_id, version: step.template_version }]]
        : [],
    ),
  );

const stepsWith = ({ definition }: AutomationFile, key: string): string[] =>
  Object.entries(definition.steps).flatMap(([id, step]) => (step.template === key ? [id] : []));

const toFileTemplate = ({ subject, preheader, html, text }: rendering.Template): FileTemplate => ({
  subject,
  preheader,
  html,
  text,
});

/** The templates that are in a file itself, by their keys, as they are kept. */
export const listOwnTemplates = ({ name, templates }: AutomationFile) =>
  Object.entries(templates).map(([key, template]) => {
    const text = { name: `${name}: ${key}`, ...template };
    const { error } = rendering.NewTemplate.safeParse(text);
    if (error)
      throw new FolderError(`template ${key}: ${z.prettifyError(error)}`, { cause: error });
    return { key, template, text };
  });

/** Keeps the templates of a file: as new versions of what the steps send now, where that says something else. */
const keepTemplates = async (
  scope: Scope,
  file: AutomationFile,
  known: Mails,
  examine: rendering.Examine | undefined,
): Promise<Mails> => {
  const kept: Mails = new Map();
  for (const { key, template, text } of listOwnTemplates(file)) {
    const now = stepsWith(file, key).flatMap((id) => known.get(id) ?? [])[0];
    const there = now && (await rendering.findTemplate(scope, now.templateId, now.version));
    if (now && there && listChanges(toFileTemplate(there), template).length === 0)
      kept.set(key, now);
    else if (now)
      kept.set(key, {
        templateId: now.templateId,
        version: await rendering.saveVersion(scope, now.templateId, text, examine),
      });
    else
      kept.set(key, {
        templateId: await rendering.saveTemplate(scope, text, examine),
        version: 1,
      });
  }
  return kept;
};

const keyIn = (mails: Mails, { templateId, version }: { templateId: string; version: number }) =>
  [...mails].find(([, mail]) => mail.templateId === templateId && mail.version === version)?.[0] ??
  null;

/** An automation of the project as a file; what it sends is in the file, unless it has a key elsewhere. */
export const exportFile = async (
  scope: Scope,
  automationId: string,
  shared: Mails = new Map(),
): Promise<z.input<typeof AutomationFile> | null> => {
  const kept = await automations.findAutomation(scope, automationId);
  const definition =
    kept && (await automations.findVersion(scope, automationId, kept.latest_version));
  if (!kept || !definition) return null;
  const senders = new Map(
    (await listSenders(scope)).map((one) => [one.provider_id, one.from_email]),
  );
  const file = {
    templates: {} as Record<string, FileTemplate>,
    steps: {} as Record<string, unknown>,
  };
  for (const [id, step] of Object.entries(definition.steps)) {
    if (step.kind !== 'send_email') {
      file.steps[id] = step;
      continue;
    }
    const { provider_id, template_id, template_version, ...rest } = step;
    const key = keyIn(shared, { templateId: template_id, version: template_version });
    const own = shared.has(id) ? `${id}_own` : id;
    const template =
      key === null && (await rendering.findTemplate(scope, template_id, template_version));
    if (template) file.templates[own] = toFileTemplate(template);
    file.steps[id] = { ...rest, template: key ?? own, provider: senders.get(provider_id) };
  }
  const { name, latest_version: version } = kept;
  const steps = file.steps as AutomationFile['definition']['steps'];
  return { name, version, templates: file.templates, definition: { ...definition, steps } };
};

export type Applied = { automationId: string } & Become;

type Given = {
  sender: string | undefined;
  /** Templates of the folder, by their keys. */
  shared: Mails;
  examine: rendering.Examine | undefined;
};

const findNamed = async (scope: Scope, name: string) => {
  await automations.holdAutomations(scope);
  const [named, other] = await automations.listAutomationsNamed(scope, name, 2);
  if (other) throw new FolderError(`Two automations are called "${name}". Rename one first.`);
  return named ? automations.findAutomation(scope, named.automation_id) : null;
};

/**
 * Makes the project's automation of that name what the file says: a new one, or the next version of the one that
 * is there. The same file again changes nothing; a file of an older version is refused.
 */
export const applyFile = async (
  scope: Scope,
  file: AutomationFile,
  { sender, shared, examine }: Given,
): Promise<Applied> => {
  const kept = await findNamed(scope, file.name);
  const known = kept
    ? await automations.findVersion(scope, kept.automation_id, kept.latest_version)
    : null;
  const own = await keepTemplates(scope, file, mailsOf(known), examine);
  const mails = new Map([...shared, ...own]);
  const senders = await listSenders(scope);
  const definition = toWanted(file, known, { mails, senders, said: sender });
  const changes = await listNamedChanges(scope, known ?? {}, definition);
  if (!kept) {
    const made = { automationId: newId(), name: file.name, definition };
    const { automation_id: automationId } = await automations.create(scope, made, doors);
    return { automationId, version: 1, changes, was: null };
  }
  const { automation_id: automationId, latest_version: version, status, active_version } = kept;
  const was = `${automationId} ${version} ${status} ${active_version ?? 'none'}`;
  if (changes.length === 0) return { automationId, version, changes, was };
  if (file.version !== undefined && file.version !== version)
    throw new FolderError(
      `The file is of version ${file.version}, and there is version ${version}: export it again.`,
      { isStale: true },
    );
  const next = { definition, after: version };
  const after = await automations.addVersion(scope, automationId, next, doors);
  return { automationId, version: after.latest_version, changes, was };
};

/** Activates the version that was applied. */
export const activateApplied = (
  scope: Scope,
  { automationId, version }: Applied,
  site: PublicAddress,
) => automations.activate(scope, automationId, version, { doors, site });
