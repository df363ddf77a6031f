import { z } from 'zod';
import { inProject } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { readCursor, toPage } from '../base/page.ts';
import type { PageQuery } from '../base/page.ts';
import { Refusal } from '../base/refusal.ts';
import { preview } from './preview.ts';
import type { PreviewDoors } from './preview.ts';
import { findVersion, listHeads, listVersions } from './queries.ts';
import type { Head } from './queries.ts';
import { keepTemplate, keepVersion } from './records.ts';
import { examineTemplate } from './rendering.ts';
import type { Accepted } from './rendering.ts';
import { toText } from './schema.ts';
import type { Draft, Whom } from './schema.ts';
import * as shown from './shown.ts';

// What people with a server key or the Console do with templates; both doors answer the same.

export type Where = { deps: Deps; projectId: string };

/** What was kept, as its answer: the same when it is asked again. */
const toSaved = (head: Head, version: number, accepted: Accepted) => {
  const { written, html, sample, name, variables, warnings } = accepted;
  const { subject, preheader, mjml, text } = written;
  const said = { subject, preheader, html, mjml, text, sample };
  return { ...shown.toListed(head), name, version, ...said, variables, warnings };
};

/** Keeps a template as its version 1. */
export const addTemplate = async ({ deps, projectId }: Where, templateId: string, body: Draft) => {
  const accepted = await examineTemplate(deps, projectId, toText(body.name, body));
  return inProject(deps, projectId, async (scope) =>
    toSaved(await keepTemplate(scope, templateId, accepted), 1, accepted),
  );
};

type Next = Omit<Draft, 'name'> & { after_version: number; name?: string | undefined };

/** Keeps the next version of a template. */
export const addTemplateVersion = async ({ deps, projectId }: Where, head: Head, body: Next) => {
  const { after_version: after, name = head.name, ...given } = body;
  const accepted = await examineTemplate(deps, projectId, toText(name, given));
  return inProject(deps, projectId, async (scope) =>
    toSaved(await keepVersion(scope, head.template_id, accepted, after), after + 1, accepted),
  );
};

/** One page of the templates, the newest first: of those that are archived, or of the others. */
export const pageTemplates = async (
  scope: Scope,
  { limit, cursor }: PageQuery,
  isArchived: boolean,
) => {
  const beforeId = readCursor(z.tuple([z.uuid()]), cursor)?.[0] ?? null;
  const rows = await listHeads(scope, { limit: limit + 1, beforeId, isArchived });
  return toPage(rows, limit, {
    item: shown.toListed,
    position: ({ template_id }) => [template_id],
  });
};

/** A template in its latest version. */
export const showTemplate = async (scope: Scope, head: Head) => {
  const latest = await findVersion(scope, head.template_id, head.latest_version);
  if (!latest) throw new Error('a template without a version');
  return shown.toTemplate(head, latest);
};

/** One page of the versions of a template, the newest first. */
export const pageVersions = async (
  scope: Scope,
  templateId: string,
  { limit, cursor }: PageQuery,
) => {
  const position = readCursor(z.tuple([z.string().regex(/^\d{1,9}$/)]), cursor);
  const before = position ? Number(position[0]) : null;
  const rows = await listVersions(scope, templateId, { limit: limit + 1, before });
  return toPage(rows, limit, {
    item: shown.toVersionListed,
    position: ({ version }) => [String(version)],
  });
};

/** Shows a version that is kept as somebody would get it. */
export const previewVersion = async (
  { deps, projectId }: Where,
  head: Head,
  body: Whom & { version?: number | undefined },
  doors: PreviewDoors,
) => {
  const wanted = body.version ?? head.latest_version;
  const version = await inProject(deps, projectId, (scope) =>
    findVersion(scope, head.template_id, wanted),
  );
  if (!version)
    throw new Refusal('invalid_request', {
      issues: [{ path: '/version', message: 'there is no such version' }],
    });
  return preview(deps, projectId, { source: version, sample: version.sample, whom: body }, doors);
};

/** Warnings of what is written, whoever gets it. */
const OF_THE_SOURCE: readonly string[] = ['unlikely_variable', 'whole_object'];

/** The same of one that is not kept yet. */
export const previewDraft = async (
  { deps, projectId }: Where,
  { template, ...whom }: Whom & { template: Draft },
  doors: PreviewDoors,
) => {
  const text = toText(template.name, template);
  const { written, html, sample, warnings } = await examineTemplate(deps, projectId, text);
  const { subject, text: plain, preheader } = written;
  const source = { subject, html, text: plain, preheader };
  const shown = await preview(deps, projectId, { source, sample, whom }, doors);
  const odd = warnings.filter(({ warning }) => OF_THE_SOURCE.includes(warning));
  return { ...shown, warnings: [...odd, ...shown.warnings] };
};
