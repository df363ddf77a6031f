import { z } from 'zod';
import type { Scope } from '../../base/db.ts';
import { walkPages } from '../../base/pages.ts';
import * as rendering from '../../rendering/rendering.ts';
import { listChanges } from '../list_changes.ts';
import type { Applying, Become } from './applying.ts';
import { readKind, toJson } from './files.ts';
import type { Folder } from './files.ts';
import { FolderError } from './folder_error.ts';
import { inFile } from './in_file.ts';
import type { LimitedFolder } from './limited_folder.ts';
import { byKey } from './names.ts';

/** A template as a file; its bodies are files of their own beside it. */
const TemplateFile = z.strictObject({
  name: z.string().min(1),
  /** The version that the file was exported as: where there is a newer one, changes are refused. */
  version: z.int().optional(),
  subject: z.string(),
  preheader: z.string().nullable().default(null),
  sample: z
    .strictObject({
      profile: z.record(z.string(), z.unknown()),
      event: z.record(z.string(), z.unknown()),
    })
    .nullable()
    .default(null),
});
type TemplateFile = z.output<typeof TemplateFile>;

/** Which version of which template a key stands for. */
export type Mails = Map<string, { templateId: string; version: number }>;

const PAGE_MAX = 200;

/** All that are not archived, the oldest first. */
const listAll = async (scope: Scope, folder: LimitedFolder): Promise<rendering.Head[]> => {
  const found: rendering.Head[] = [];
  await walkPages<rendering.Head>(PAGE_MAX, async (last) => {
    const beforeId = last?.template_id ?? null;
    const asked = { limit: PAGE_MAX, beforeId, isArchived: false };
    const page = await rendering.listHeads(scope, asked);
    found.push(...page);
    folder.expectFiles(found.length);
    return page;
  });
  return found.toReversed();
};

/** Those of some templates that are not archived. */
const listNamed = async (
  scope: Scope,
  templateIds: ReadonlySet<string>,
): Promise<rendering.Head[]> => {
  const found: rendering.Head[] = [];
  for (const templateId of templateIds) {
    const head = await rendering.findHead(scope, templateId);
    if (head && head.archived_at === null) found.push(head);
  }
  return found;
};

/** Templates of a project that are not archived, all or some of them, each in its latest version. */
export const exportTemplates = async (
  scope: Scope,
  folder: LimitedFolder,
  wanted: ReadonlySet<string> | null,
): Promise<Mails> => {
  const mails: Mails = new Map();
  const heads = wanted === null ? await listAll(scope, folder) : await listNamed(scope, wanted);
  for (const [key, head] of byKey('templates', heads)) {
    const { template_id: templateId, latest_version: version } = head;
    const said = await rendering.findVersion(scope, templateId, version);
    if (!said) continue;
    const { name, subject, preheader, sample, html, mjml, text } = said;
    folder.set(`templates/${key}.json`, toJson({ name, version, subject, preheader, sample }));
    folder.set(`templates/${key}.${mjml === null ? 'html' : 'mjml'}`, mjml ?? html);
    if (text !== null) folder.set(`templates/${key}.txt`, text);
    mails.set(key, { templateId, version });
  }
  return mails;
};

const bodyOf = (folder: Folder, key: string): { html: string } | { mjml: string } => {
  const [html, mjml] = ['html', 'mjml'].map((kind) => folder.get(`templates/${key}.${kind}`));
  if (html !== undefined && mjml === undefined) return { html };
  if (mjml !== undefined && html === undefined) return { mjml };
  throw new FolderError(
    `templates/${key} needs its body in one file: either ${key}.html or ${key}.mjml`,
  );
};

/** A sample that nobody gave was made of what the template mentions: only where one is given they differ. */
const toComparable = (version: rendering.Version, given: rendering.TemplateText) => {
  const { name, subject, preheader, sample, text, html, mjml } = version;
  const body = mjml === null ? { html } : { mjml };
  return { name, subject, preheader, text, ...body, ...(given.sample ? { sample } : {}) };
};

/** A template of a folder as it is kept, unless something in it is not what a template may be. */
const toText = (folder: Folder, key: string, file: TemplateFile): rendering.TemplateText => {
  const { version: _, sample, ...rest } = file;
  const text = folder.get(`templates/${key}.txt`) ?? null;
  const given = { ...rest, ...(sample ? { sample } : {}), text, ...bodyOf(folder, key) };
  const { error } = rendering.NewTemplate.safeParse(given);
  if (error) throw new FolderError(`templates/${key}: ${z.prettifyError(error)}`, { cause: error });
  return given;
};

type There = { head: rendering.Head | null; changes: string[] };

/** What the project has of that name, and what would be different. */
const compare = async (scope: Scope, text: rendering.TemplateText): Promise<There> => {
  const [head = null, other] = await rendering.findHeadsByName(scope, text.name, 2);
  if (other) throw new FolderError(`Two templates are called "${text.name}". Rename one first.`);
  const there = head && (await rendering.findVersion(scope, head.template_id, head.latest_version));
  return { head, changes: listChanges(there ? toComparable(there, text) : {}, text) };
};

const refuseStale = (key: string, version: number | undefined, latest: number): void => {
  if (version === undefined || version === latest) return;
  throw new FolderError(
    `templates/${key}.json is of version ${version}, and there is version ${latest}: ` +
      'export it again, or take its version out.',
    { isStale: true },
  );
};

type Kept = { templateId: string } & Become;

const applyOne = async (
  scope: Scope,
  key: string,
  { text, version }: { text: rendering.TemplateText; version: number | undefined },
  examine: rendering.Examine | undefined,
): Promise<Kept> => {
  const { head, changes } = await compare(scope, text);
  if (!head) {
    const templateId = await rendering.saveTemplate(scope, text, examine);
    return { templateId, version: 1, changes, was: null };
  }
  const { template_id: templateId, latest_version: latest } = head;
  const was = `${templateId} ${latest}`;
  if (changes.length === 0) return { templateId, version: latest, changes, was };
  refuseStale(key, version, latest);
  const kept = await rendering.saveVersion(scope, templateId, text, examine);
  // Somebody was quicker, between the look and the change.
  refuseStale(key, latest, kept - 1);
  return { templateId, version: kept, changes, was };
};

/** The templates of a folder that are new, or say something else than the project's, by what they are called. */
export const listChangedTemplates = async (
  scope: Scope,
  folder: Folder,
): Promise<Map<string, rendering.TemplateText>> => {
  const changed = new Map<string, rendering.TemplateText>();
  for (const [key, file] of readKind(folder, 'templates', TemplateFile)) {
    const text = toText(folder, key, file);
    if ((await compare(scope, text)).changes.length > 0) changed.set(`templates/${key}`, text);
  }
  return changed;
};

/** Makes the project's templates of those names what the files say. The same files again change nothing. */
export const applyTemplates = async (
  scope: Scope,
  folder: Folder,
  { say, examine }: Applying,
): Promise<Mails> => {
  const mails: Mails = new Map();
  for (const [key, file] of readKind(folder, 'templates', TemplateFile)) {
    const given = { text: toText(folder, key, file), version: file.version };
    const { templateId, ...become } = await inFile(`templates/${key}`, () =>
      applyOne(scope, key, given, examine),
    );
    mails.set(key, { templateId, version: become.version });
    say(`templates/${key}`, become);
  }
  return mails;
};
