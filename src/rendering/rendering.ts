import type { Scope } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { newId } from '../base/ids.ts';
import { Refusal } from '../base/refusal.ts';
import type { Issue } from '../base/refusal.ts';
import { isStorable, NOT_STORABLE } from '../base/text.ts';
import { examineApart } from './apart.ts';
import type { Examined, Written } from './examine.ts';
import { TEMPLATE_CHARS_MAX } from './limits.ts';
import { findLatestVersion, findTemplate } from './queries.ts';
import type { Template } from './queries.ts';
import { keepTemplate, keepVersion } from './records.ts';
import type { Examination } from './records.ts';
import type { TemplateText } from './template_text.ts';
import type { Warning } from './warnings.ts';

export { findLatestVersion, findTemplate };
export {
  findHead,
  findHeadsByName,
  findVersion,
  listEventVariables,
  listHeads,
} from './queries.ts';
export type { Head, Version } from './queries.ts';
export type { Template };
export { renderMails } from './apart.ts';
export type { Mail } from './apart.ts';
export { isUsable } from './records.ts';
export { withUnsubscribe } from './unsubscribe_footer.ts';
export type { Rendered, RenderOutcome } from './render.ts';
export { NewTemplate } from './schema.ts';
export type { TemplateText };
export { hasVariable, toSample } from './variables.ts';
export type { KnownSample, Person, Sample, Variables } from './variables.ts';
export { ASSERTED_CHARS_MAX } from './asserted.ts';

const refuse = (issues: Issue[]): Refusal => new Refusal('invalid_request', { issues });

const checkParts = (given: TemplateText): void => {
  const { name, subject, text, preheader } = given;
  const body = 'mjml' in given ? { mjml: given.mjml } : { html: given.html };
  const issues = Object.entries({ name, subject, text, preheader, ...body }).flatMap(
    ([part, source]): Issue[] => {
      const path = `/${part}`;
      if (source === null || source === undefined) return [];
      if (!isStorable(source)) return [{ path, message: NOT_STORABLE }];
      return source.length > TEMPLATE_CHARS_MAX
        ? [{ path, message: `at most ${TEMPLATE_CHARS_MAX} characters` }]
        : [];
    },
  );
  if (issues.length > 0) throw refuse(issues);
};

const toWritten = (given: TemplateText): Written => ({
  subject: given.subject,
  preheader: given.preheader ?? null,
  text: given.text,
  html: 'mjml' in given ? null : given.html,
  mjml: 'mjml' in given ? given.mjml : null,
  sample: given.sample ?? null,
});

/** A template that may be kept, with what to know of it. */
export type Accepted = Examination & { variables: string[]; warnings: Warning[] };

const accept = (
  name: string,
  written: Written,
  examined: Examined | { kind: 'failed'; reason: string },
): Accepted => {
  if (examined.kind === 'refused') throw refuse(examined.issues);
  if (examined.kind === 'failed') throw refuse([{ path: '', message: examined.reason }]);
  const { html, sample, variables, eventVariables, warnings } = examined;
  return { name, written, html, sample, variables, eventVariables, warnings };
};

/** Looks at a template in a thread of its own, before a transaction is open: whatever it does, nobody waits for it. */
export const examineTemplate = async (
  deps: Pick<Deps, 'resources'>,
  projectId: string,
  given: TemplateText,
): Promise<Accepted> => {
  checkParts(given);
  const written = toWritten(given);
  return accept(given.name, written, await examineApart(deps, projectId, written));
};

/** The same in this thread, for an operator's own templates. The service never does it, and loads nothing for it. */
const examineHere = async (given: TemplateText): Promise<Accepted> => {
  checkParts(given);
  const { examine } = await import('./examine.ts');
  const written = toWritten(given);
  return accept(given.name, written, await examine(written));
};

/** How a template is looked at before it is kept. */
export type Examine = (given: TemplateText) => Promise<Accepted>;

/** Keeps what a template says from now on as its next version, which never changes. Answers its number. */
export const saveVersion = async (
  scope: Scope,
  templateId: string,
  given: TemplateText,
  examineIt: Examine = examineHere,
): Promise<number> => {
  const head = await keepVersion(scope, templateId, await examineIt(given), null);
  return head.latest_version;
};

/** Keeps a new template as its version 1. */
export const saveTemplate = async (
  scope: Scope,
  given: TemplateText,
  examineIt: Examine = examineHere,
): Promise<string> => {
  const templateId = newId();
  await keepTemplate(scope, templateId, await examineIt(given));
  return templateId;
};
