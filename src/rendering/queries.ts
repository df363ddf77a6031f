import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';

const Template = z.strictObject({
  template_id: z.uuid(),
  version: z.int(),
  subject: z.string(),
  html: z.string(),
  text: z.string().nullable(),
});
export type Template = z.output<typeof Template>;

export type NewTemplate = Template & { name: string };

export const insertTemplate = (
  { tx, projectId }: Scope,
  { template_id, version, name, subject, html, text }: NewTemplate,
) =>
  tx.query(sql.unsafe`
    insert into rendering.templates (project_id, template_id, version, name, subject, html, text, created_at)
    values (${projectId}, ${template_id}, ${version}, ${name}, ${subject}, ${html}, ${text}, now())
  `);

export const findTemplate = ({ tx, projectId }: Scope, templateId: string, version: number) =>
  tx.maybeOne(sql.type(Template)`
    select template_id, version, subject, html, text from rendering.templates
    where project_id = ${projectId} and template_id = ${templateId} and version = ${version}
  `);

export const findLatestVersion = ({ tx, projectId }: Scope, templateId: string) =>
  tx.maybeOne(sql.type(z.strictObject({ version: z.int() }))`
    select version from rendering.templates
    where project_id = ${projectId} and template_id = ${templateId}
    order by version desc
    limit 1
  `);
