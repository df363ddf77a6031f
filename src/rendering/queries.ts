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

export const findTemplate = ({ tx, projectId }: Scope, templateId: string, version: number) =>
  tx.maybeOne(sql.type(Template)`
    select template_id, version, subject, html, text, preheader from rendering.templates
    where project_id = ${projectId} and template_id = ${templateId} and version = ${version}
  `);

export const findLatestVersion = ({ tx, projectId }: Scope, templateId: string) =>
  tx.maybeOne(sql.type(z.strictObject({ version: z.int() }))`
    select latest_version as version from rendering.heads
    where project_id = ${projectId} and template_id = ${templateId}
  `);

const Head = z.strictObject({
  template_id: z.uuid(),
  name: z.string(),
  latest_version: z.int(),
  archived_at: z.date().nullable(),
  created_at: z.date(),
  updated_at: z.date(),
});
export type Head = z.output<typeof Head>;

const headColumns = sql.fragment`template_id, name, latest_version, archived_at, created_at, updated_at`;

export const findHead = ({ tx, projectId }: Scope, templateId: string) =>
  tx.maybeOne(sql.type(Head)`
    select ${headColumns} from rendering.heads where project_id = ${projectId} and template_id = ${templateId}
  `);

/** Holds a template until the transaction ends: against whoever changes or archives it. */
export const holdHead = (
  { tx, projectId }: Scope,
  templateId: string,
  how: 'to_change' | 'to_use' = 'to_change',
) =>
  tx.maybeOne(sql.type(Head)`
    select ${headColumns} from rendering.heads where project_id = ${projectId} and template_id = ${templateId}
    ${how === 'to_use' ? sql.fragment`for share` : sql.fragment`for update`}
  `);

export type HeadFilter = { limit: number; beforeId: string | null; isArchived: boolean };

/** Ids are time-ordered, so newest first is by id. */
export const listHeads = ({ tx, projectId }: Scope, { limit, beforeId, isArchived }: HeadFilter) =>
  tx.any(sql.type(Head)`
    select ${headColumns} from rendering.heads
    where project_id = ${projectId} and (archived_at is not null) = ${isArchived}
    and ${beforeId === null ? sql.fragment`true` : sql.fragment`template_id < ${beforeId}`}
    order by template_id desc
    limit ${limit}
  `);

export const findHeadsByName = ({ tx, projectId }: Scope, name: string, limit: number) =>
  tx.any(sql.type(Head)`
    select ${headColumns} from rendering.heads
    where project_id = ${projectId} and name = ${name} and archived_at is null
    order by template_id
    limit ${limit}
  `);

/** Null when there is a template of that id already. */
export const insertHead = ({ tx, projectId }: Scope, templateId: string, name: string) =>
  tx.maybeOne(sql.type(Head)`
    insert into rendering.heads (project_id, template_id, name, latest_version, created_at, updated_at)
    values (${projectId}, ${templateId}, ${name}, 1, now(), now())
    on conflict do nothing
    returning ${headColumns}
  `);

export const setLatest = (
  { tx, projectId }: Scope,
  templateId: string,
  { name, version }: { name: string; version: number },
) =>
  tx.query(sql.unsafe`
    update rendering.heads set latest_version = ${version}, name = ${name}, updated_at = now()
    where project_id = ${projectId} and template_id = ${templateId}
  `);

export const setArchived = ({ tx, projectId }: Scope, templateId: string, isArchived: boolean) =>
  tx.query(sql.unsafe`
    update rendering.heads
    set archived_at = ${isArchived ? sql.fragment`now()` : sql.fragment`null`}, updated_at = now()
    where project_id = ${projectId} and template_id = ${templateId}
  `);

export const SampleRow = z.strictObject({
  profile: z.record(z.string(), z.unknown()),
  event: z.record(z.string(), z.unknown()),
});

const Version = z.strictObject({
  ...Template.shape,
  name: z.string(),
  mjml: z.string().nullable(),
  sample: SampleRow.nullable(),
  event_variables: z.array(z.string()),
  created_at: z.date(),
});
export type Version = z.output<typeof Version>;

/** A version with all that its author wrote. */
export const findVersion = ({ tx, projectId }: Scope, templateId: string, version: number) =>
  tx.maybeOne(sql.type(Version)`
    select template_id, version, subject, html, text, preheader, name, mjml, sample, event_variables, created_at
    from rendering.templates
    where project_id = ${projectId} and template_id = ${templateId} and version = ${version}
  `);

const Listed = z.strictObject({
  version: z.int(),
  name: z.string(),
  subject: z.string(),
  is_mjml: z.boolean(),
  created_at: z.date(),
});
export type ListedVersion = z.output<typeof Listed>;

/** The versions of a template, the newest first, without their bodies. */
export const listVersions = (
  { tx, projectId }: Scope,
  templateId: string,
  { limit, before }: { limit: number; before: number | null },
) =>
  tx.any(sql.type(Listed)`
    select version, name, subject, mjml is not null as is_mjml, created_at from rendering.templates
    where project_id = ${projectId} and template_id = ${templateId}
    and ${before === null ? sql.fragment`true` : sql.fragment`version < ${before}`}
    order by version desc
    limit ${limit}
  `);

export type NewVersion = Omit<Version, 'created_at'>;

export const insertVersion = ({ tx, projectId }: Scope, made: NewVersion) =>
  tx.query(sql.unsafe`
    insert into rendering.templates (project_id, template_id, version, name, subject, html, text, mjml, preheader,
      sample, event_variables, created_at)
    values (${projectId}, ${made.template_id}, ${made.version}, ${made.name}, ${made.subject}, ${made.html},
      ${made.text}, ${made.mjml}, ${made.preheader}, ${JSON.stringify(made.sample)}::jsonb,
      ${sql.array(made.event_variables, 'text')}, now())
  `);

const EventVariables = z.strictObject({ event_variables: z.array(z.string()) });

/**
 * The variables of an event that a version cannot do without. They were found in a thread when it was saved: reading a
 * template again here would hold up every other project.
 */
export const listEventVariables = async (
  { tx, projectId }: Scope,
  templateId: string,
  version: number,
): Promise<string[]> => {
  const found = await tx.maybeOne(sql.type(EventVariables)`
    select event_variables from rendering.templates
    where project_id = ${projectId} and template_id = ${templateId} and version = ${version}
  `);
  return found?.event_variables ?? [];
};
