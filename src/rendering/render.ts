import { convert } from 'html-to-text';
import { Liquid } from 'liquidjs';
import { hasLineBreak, isStorable, toStorable } from '../base/text.ts';
import type { Template } from './queries.ts';

export const TEMPLATE_CHARS_MAX = 256 * 1024;
/** How much a template may make, in liquidjs's own units, and how many milliseconds it may take. */
const TEMPLATE_MEMORY_MAX = 1_000_000;
export const RENDER_TIME_MAX_MS = 1_000;
export const RENDERED_CHARS_MAX = 512 * 1024;
export const SUBJECT_CHARS_MAX = 998;
const REASON_CHARS_MAX = 1_000;

export const PREHEADER_CHARS_MAX = 250;

export type Variables = {
  profile: object;
  event: object;
  run: object;
  project: object;
  unsubscribe_url: string;
};
export type Rendered = { subject: string; html: string; text: string };

/** What became of a template. A customer's template fails as a matter of course, so it is never thrown. */
export type RenderOutcome =
  { kind: 'rendered'; message: Rendered } | { kind: 'failed'; reason: string };

const limits = {
  // A template is an untrusted program: own properties only, nothing from disk, nothing undefined.
  ownPropertyOnly: true,
  strictVariables: true,
  // A missing value may be asked for with `if` and `default`, never printed as nothing.
  lenientIf: true,
  strictFilters: true,
  relativeReference: false,
  parseLimit: TEMPLATE_CHARS_MAX,
  renderLimit: RENDER_TIME_MAX_MS,
  memoryLimit: TEMPLATE_MEMORY_MAX,
  templates: {},
};

const html = new Liquid({ ...limits, outputEscape: 'escape' });
const plain = new Liquid(limits);

const bounded = (text: string): string => {
  if (!isStorable(text)) throw new Error('the output must be well-formed Unicode without U+0000');
  if (text.length > RENDERED_CHARS_MAX)
    throw new Error(`more than ${RENDERED_CHARS_MAX} characters of output`);
  return text;
};

const toSubject = (text: string): string => {
  const subject = text.trim();
  if (subject === '' || subject.length > SUBJECT_CHARS_MAX || hasLineBreak(subject)) {
    throw new Error(`the subject must be one line of 1 to ${SUBJECT_CHARS_MAX} characters`);
  }
  return bounded(subject);
};

/** Headings keep the letters that they have. */
const AS_WRITTEN = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({
  selector,
  options: { uppercase: false },
}));

const toText = (body: string): string => convert(body, { selectors: AS_WRITTEN });

/** A reason for people: one that can be kept, and no longer than anybody reads. */
const toReason = (error: unknown): string =>
  toStorable(error instanceof Error ? error.message : String(error)).slice(0, REASON_CHARS_MAX);

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"]/g, (character) => ESCAPES[character] ?? character);

const HIDDEN =
  'display:none;font-size:1px;line-height:1px;max-height:0;max-width:0;opacity:0;overflow:hidden;mso-hide:all';
/** Keeps mail software from showing the beginning of the text after a short preheader. */
const FILLER = '&#847;&zwnj;&nbsp;'.repeat(60);

/** The line that inboxes show after the subject, hidden at the beginning of the body. */
const withPreheader = (body: string, preheader: string): string => {
  const line = preheader.trim().replaceAll(/\s+/g, ' ');
  if (line === '') return body;
  if (line.length > PREHEADER_CHARS_MAX)
    throw new Error(`the preheader has more than ${PREHEADER_CHARS_MAX} characters`);
  const hidden = `<div style="${HIDDEN}">${escapeHtml(line)}${FILLER}</div>`;
  const [start] = /<body\b[^>]*>/i.exec(body) ?? [''];
  return start === '' ? hidden + body : body.replace(start, () => start + hidden);
};

/** Refuses what can be seen to be wrong before anybody is mailed: what Liquid cannot read. */
export const checkSyntax = (
  template: Pick<Template, 'subject' | 'html' | 'text' | 'preheader'>,
) => {
  const parts = { ...template, text: template.text ?? '', preheader: template.preheader ?? '' };
  return Object.entries(parts).flatMap(([part, source]) => {
    try {
      plain.parse(source);
      return [];
    } catch (error) {
      return [{ path: `/${part}`, message: toReason(error) }];
    }
  });
};

type Parsed = { subject: Parts; html: Parts; text: Parts | null; preheader: Parts };
type Parts = ReturnType<typeof plain.parse>;

/** What a template was parsed to, for as long as somebody has it: a batch of sends parses it once. */
const parsed = new WeakMap<Template, Parsed>();

const parse = (template: Template): Parsed => {
  const known = parsed.get(template);
  if (known) return known;
  const parts = {
    subject: plain.parse(template.subject),
    html: html.parse(template.html),
    text: template.text === null ? null : plain.parse(template.text),
    preheader: plain.parse(template.preheader ?? ''),
  };
  parsed.set(template, parts);
  return parts;
};

const toString = (engine: Liquid, parts: Parts, variables: Variables): string =>
  String(engine.renderSync(parts, variables));

const renderNow = (template: Template, variables: Variables): RenderOutcome => {
  try {
    const parts = parse(template);
    const body = bounded(toString(html, parts.html, variables));
    const text = parts.text === null ? toText(body) : toString(plain, parts.text, variables);
    const subject = toSubject(toString(plain, parts.subject, variables));
    const preheader = toString(plain, parts.preheader, variables);
    const shown = bounded(withPreheader(body, preheader));
    return { kind: 'rendered', message: { subject, html: shown, text: bounded(text) } };
  } catch (error) {
    return { kind: 'failed', reason: toReason(error) };
  }
};

/** Renders a template for one person. The text part is derived from the HTML when the template has none. */
export const render = (template: Template, variables: Variables): Promise<RenderOutcome> =>
  Promise.resolve(renderNow(template, variables));
