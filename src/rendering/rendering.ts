import type { Scope } from '../base/db.ts';
import { newId } from '../base/ids.ts';
import { findLatestVersion, findTemplate, insertTemplate } from './queries.ts';
import type { Template } from './queries.ts';

export { findLatestVersion, findTemplate };
export type { Template };
export { render } from './render.ts';
export type { Rendered, RenderOutcome, Variables } from './render.ts';

export type TemplateText = { name: string; subject: string; html: string; text: string | null };

/** Keeps a new template as its version 1. */
export const saveTemplate = async (scope: Scope, text: TemplateText): Promise<string> => {
  const templateId = newId();
  await insertTemplate(scope, { template_id: templateId, version: 1, ...text });
  return templateId;
};
