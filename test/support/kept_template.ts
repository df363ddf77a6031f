import type { TestDatabase } from './database.ts';

type Owner = Pick<TestDatabase['owner'], 'query'>;

/** A template that nobody has looked at, as an older service may have kept it: whatever it says. */
export const keepTemplateAsIs = async (
  owner: Owner,
  projectId: string,
  templateId: string,
  { subject = 'Welcome', html = 'Welcome' }: { subject?: string; html?: string } = {},
): Promise<void> => {
  await owner.query(
    `insert into rendering.heads (project_id, template_id, name, latest_version, created_at, updated_at)
     values ($1, $2, 'Welcome', 1, now(), now())`,
    [projectId, templateId],
  );
  await owner.query(
    `insert into rendering.templates (project_id, template_id, version, name, subject, html, sample, created_at)
     values ($1, $2, 1, 'Welcome', $3, $4, '{"profile": {}, "event": {}}', now())`,
    [projectId, templateId, subject, html],
  );
};
