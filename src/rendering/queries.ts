import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';

const Template = z.strictObject({
  template_id: z.uuid(),
  version: z.int(),
  subject: z.string(),
  html: z.string(),
  text: z.string().nullable(),
  preheader: z.string().nullable(),
});
export type Template = z.output<typeof Template>;

export type NewTemplate = Omit<Template, 'version'> & {
  name: string;
  /** What the HTML was made of, where it was. */
  mjml: string | null;
};

const Inserted = z.strictObject({ version: z.int() });

/** Keeps a template as its next version; null when somebody else has just made that version. */
export const insertTemplate = ({ tx, projectId }: Scope, template: NewTemplate) =>
  tx.maybeOne(sql.type(Inserted)`
    insert into rendering.templates (project_id, template_id, version, name, subject, html, text, mjml, preheader,
      created_at)
    select ${projectId}, ${template.template_id}, coalesce(max(known.version), 0) + 1, ${template.name},
      ${template.subject}, ${template.html}, ${template.text}, ${template.mjml}, ${template.preheader}, now()
    from rendering.templates as known
    where known.project_id = ${projectId} and known.template_id = ${template.template_id}
    on conflict do nothing
    returning version
  `);

export const findTemplate = ({ tx, projectId }: Scope, templateId: string, version: number) =>
  tx.maybeOne(sql.type(Template)`
    select template_id, version, subject, html, text, preheader from rendering.templates
    where project_id = ${projectId} and template_id = ${templateId} and version = ${version}
  `);

export const findLatestVersion = ({ tx, projectId }: Scope, templateId: string) =>
  tx.maybeOne(sql.type(z.strictObject({ version: z.int() }))`
    select version from rendering.templates
    where project_id = ${projectId} and template_id = ${templateId}
    order by version desc
    limit 1
  `);
