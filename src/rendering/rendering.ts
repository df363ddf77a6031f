import type { Scope } from '../base/db.ts';
import { newId } from '../base/ids.ts';
import { Refusal } from '../base/refusal.ts';
import type { Issue } from '../base/refusal.ts';
import { isStorable } from '../base/text.ts';
import { compileMjml } from './mjml.ts';
import { findLatestVersion, findTemplate, insertTemplate } from './queries.ts';
import type { Template } from './queries.ts';
import { checkSyntax, render, TEMPLATE_CHARS_MAX } from './render.ts';
import type { Variables } from './render.ts';

export { findLatestVersion, findTemplate, render };
export type { Template };
export { withUnsubscribe } from './unsubscribe_footer.ts';
export type { Rendered, RenderOutcome, Variables } from './render.ts';

/** Somebody whom a template is tried on when it is saved. */
export type Sample = Pick<Variables, 'profile' | 'event'>;

/** A template as its author gives it: its body in HTML or in MJML. */
export type TemplateText = {
  name: string;
  subject: string;
  text: string | null;
  preheader?: string | null;
  /** With one, a variable that it lacks is refused now, instead of failing the person's mail later. */
  sample?: Sample;
} & ({ html: string } | { mjml: string });

const SAMPLE_URL = 'https://trunkline.invalid/u/sample';

const refuse = (issues: Issue[]): Refusal => new Refusal('invalid_request', { issues });

const checkParts = (given: TemplateText): void => {
  const { name, subject, text, preheader } = given;
  const body = 'mjml' in given ? { mjml: given.mjml } : { html: given.html };
  const issues = Object.entries({ name, subject, text, preheader, ...body }).flatMap(
    ([part, source]): Issue[] => {
      const path = `/${part}`;
      if (source === null || source === undefined) return [];
      if (!isStorable(source))
        return [{ path, message: 'must be well-formed Unicode without U+0000' }];
      return source.length > TEMPLATE_CHARS_MAX
        ? [{ path, message: `at most ${TEMPLATE_CHARS_MAX} characters` }]
        : [];
    },
  );
  if (issues.length > 0) throw refuse(issues);
};

const tryOn = async (template: Template, sample: Sample): Promise<void> => {
  const outcome = await render(template, {
    ...sample,
    run: { send_id: newId() },
    project: { name: 'Sample' },
    unsubscribe_url: SAMPLE_URL,
  });
  if (outcome.kind === 'failed') throw refuse([{ path: '', message: outcome.reason }]);
};

/** How often a version is tried to be made while others make theirs. */
const VERSION_TRIES_MAX = 10;

/** Keeps what a template says from now on as its next version, which never changes. Answers its number. */
export const saveVersion = async (
  scope: Scope,
  templateId: string,
  given: TemplateText,
): Promise<number> => {
  checkParts(given);
  const { name, subject, text, preheader = null, sample } = given;
  const mjml = 'mjml' in given ? given.mjml : null;
  const html = 'mjml' in given ? await compileMjml(given.mjml) : given.html;
  const template = { template_id: templateId, subject, html, text, preheader };
  const issues = checkSyntax(template);
  if (issues.length > 0) throw refuse(issues);
  if (sample) await tryOn({ ...template, version: 0 }, sample);
  for (let tries = 0; tries < VERSION_TRIES_MAX; tries += 1) {
    const inserted = await insertTemplate(scope, { ...template, name, mjml });
    if (inserted) return inserted.version;
  }
  throw new Error(`template ${templateId} is saved by too many at once`);
};

/** Keeps a new template as its version 1. */
export const saveTemplate = async (scope: Scope, text: TemplateText): Promise<string> => {
  const templateId = newId();
  await saveVersion(scope, templateId, text);
  return templateId;
};
