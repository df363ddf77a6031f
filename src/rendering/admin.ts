import { z } from 'zod';
import { inProject } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { EmailAddress } from '../base/email_address.ts';
import { newId } from '../base/ids.ts';
import { listInput } from '../base/page.ts';
import { editorProcedure, projectProcedure, readingProcedure, router } from '../base/procedure.ts';
import { Refusal } from '../base/refusal.ts';
import {
  addTemplate,
  addTemplateVersion,
  pageTemplates,
  pageVersions,
  previewDraft,
  showTemplate,
} from './acts.ts';
import { findHead, findVersion } from './queries.ts';
import type { Head } from './queries.ts';
import { archive, restore } from './records.ts';
import type { TemplateDoors } from './routes.ts';
import { DraftPreviewInput, NewTemplate, NewVersion } from './schema.ts';
import { toListed, toVersionShown } from './shown.ts';

const OfTemplate = z.object({ templateId: z.uuid() });
const OfVersion = OfTemplate.extend({ version: z.int().min(1) });

/** A mail as it was rendered, for whom to try it on. */
export type TestMail = { subject: string; preheader: string; html: string; text: string };

/** Hands one mail over, now, through a provider of the project: a room above this one can. */
export type TestDoor = {
  sendTest: (
    deps: Deps,
    projectId: string,
    test: { providerId: string; to: string; mail: TestMail },
  ) => Promise<{ ok: true; provider_message_id: string | null; took_ms: number }>;
};

const getHead = async (scope: Scope, templateId: string): Promise<Head> => {
  const head = await findHead(scope, templateId);
  if (!head) throw new Refusal('not_found', { detail: 'There is no such template.' });
  return head;
};

const readProcedures = (doors: TemplateDoors) => ({
  /** The project's templates, the newest first. */
  list: projectProcedure
    .input(z.object({ archived: z.boolean().default(false) }))
    .input(listInput)
    .query(({ ctx, input }) =>
      inProject(ctx.deps, input.projectId, (scope) => pageTemplates(scope, input, input.archived)),
    ),

  /** One template in its latest version, and which automations send it. */
  read: projectProcedure.input(OfTemplate).query(({ ctx, input }) =>
    inProject(ctx.deps, input.projectId, async (scope) => {
      const head = await getHead(scope, input.templateId);
      const used_by = await doors.listUsers(scope, head.template_id);
      return { ...(await showTemplate(scope, head)), used_by: [...used_by] };
    }),
  ),

  versions: projectProcedure
    .input(OfTemplate)
    .input(listInput)
    .query(({ ctx, input }) =>
      inProject(ctx.deps, input.projectId, (scope) => pageVersions(scope, input.templateId, input)),
    ),

  version: projectProcedure.input(OfVersion).query(({ ctx, input }) =>
    inProject(ctx.deps, input.projectId, async (scope) => {
      const version = await findVersion(scope, input.templateId, input.version);
      if (!version) throw new Refusal('not_found', { detail: 'There is no such version.' });
      return toVersionShown(version);
    }),
  ),
});

const writeProcedures = (doors: TemplateDoors & TestDoor) => ({
  /** Shows a template that is not kept yet as somebody would get it. Keeps nothing. */
  preview: readingProcedure
    .input(z.object({ draft: DraftPreviewInput }))
    .mutation(({ ctx: { deps }, input: { projectId, draft } }) =>
      previewDraft({ deps, projectId }, draft, doors),
    ),

  create: editorProcedure
    .input(z.object({ template: NewTemplate }))
    .mutation(({ ctx: { deps }, input: { projectId, template } }) =>
      addTemplate({ deps, projectId }, newId(), template),
    ),

  /** Keeps the next version; refused when there is a newer one than the one that was seen. */
  save: editorProcedure
    .input(OfTemplate.extend({ version: NewVersion }))
    .mutation(async ({ ctx: { deps }, input: { projectId, templateId, version } }) => {
      const head = await inProject(deps, projectId, (scope) => getHead(scope, templateId));
      return addTemplateVersion({ deps, projectId }, head, version);
    }),

  archive: editorProcedure
    .input(OfTemplate)
    .mutation(({ ctx, input: { projectId, templateId } }) =>
      inProject(ctx.deps, projectId, async (scope) =>
        toListed(await archive(scope, templateId, doors.listUsers)),
      ),
    ),

  restore: editorProcedure
    .input(OfTemplate)
    .mutation(({ ctx, input: { projectId, templateId } }) =>
      inProject(ctx.deps, projectId, async (scope) => toListed(await restore(scope, templateId))),
    ),

  /** Sends a template that is not kept yet to one address, as somebody would get it. */
  test: editorProcedure
    .input(
      z.object({
        draft: DraftPreviewInput,
        providerId: z.uuid(),
        to: EmailAddress,
      }),
    )
    .mutation(async ({ ctx: { deps }, input: { projectId, draft, providerId, to } }) => {
      const mail = await previewDraft({ deps, projectId }, draft, doors);
      return doors.sendTest(deps, projectId, { providerId, to, mail });
    }),
});

/** Who sends a template, and to whom it may be shown, is for rooms above this one to say. */
export const templateProcedures = (doors: TemplateDoors & TestDoor) =>
  router({ ...readProcedures(doors), ...writeProcedures(doors) });
