import { Liquid } from 'liquidjs';
import { hasLineBreak, isStorable } from '../base/text.ts';
import { BoundedEngine } from './bounded_engine.ts';
import { missingVariable, toReason } from './faults.ts';
import {
  PREHEADER_CHARS_MAX,
  RENDERED_CHARS_MAX,
  SUBJECT_CHARS_MAX,
  TEMPLATE_CHARS_MAX,
} from './limits.ts';
import { toTextPart } from './text_part.ts';
import { renderGuarded } from './guard.ts';
import type { Guard } from './guard.ts';
import type { Variables } from './variables.ts';

/** How much a template may make, in liquidjs's own units, and how many milliseconds it may take. */
const TEMPLATE_MEMORY_MAX = 1_000_000;
const RENDER_TIME_MAX_MS = 1_000;

export type Rendered = { subject: string; html: string; text: string };

/** What became of a template. A customer's template fails as a matter of course, so it is never thrown. */
export type RenderOutcome =
  /** `showsAsserted`: whether it says anything that only a browser asserted. */
  | { kind: 'rendered'; message: Rendered; showsAsserted: boolean }
  /** `missing`: the variable that was not there, where that is the reason. */
  | { kind: 'failed'; reason: string; missing?: string | null };

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

const strict = {
  html: new BoundedEngine({ ...limits, outputEscape: 'escape' }),
  plain: new BoundedEngine(limits),
};
/** What is not there is shown as nothing: to look at a template, never to mail it. */
const lenient = {
  html: new Liquid({ ...limits, strictVariables: false, outputEscape: 'escape' }),
  plain: new Liquid({ ...limits, strictVariables: false }),
};
type Engines = Record<'html' | 'plain', Liquid>;

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

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"]/g, (character) => ESCAPES[character] ?? character);

const HIDDEN =
  'display:none;font-size:1px;line-height:1px;max-height:0;max-width:0;opacity:0;overflow:hidden;mso-hide:all';
/** Keeps mail software from showing the beginning of the text after a short preheader. */
const FILLER = '&#847;&zwnj;&nbsp;'.repeat(60);

const toLine = (preheader: string): string => preheader.trim().replaceAll(/\s+/g, ' ');

/** The line that inboxes show after the subject, hidden at the beginning of the body. */
const withPreheader = (body: string, preheader: string): string => {
  const line = toLine(preheader);
  if (line === '') return body;
  if (line.length > PREHEADER_CHARS_MAX)
    throw new Error(`the preheader has more than ${PREHEADER_CHARS_MAX} characters`);
  const hidden = `<div style="${HIDDEN}">${escapeHtml(line)}${FILLER}</div>`;
  const [start] = /<body\b[^>]*>/i.exec(body) ?? [''];
  return start === '' ? hidden + body : body.replace(start, () => start + hidden);
};

/** What a mail is made of; the rest of a template is about it. */
export type Source = {
  subject: string;
  html: string;
  text: string | null;
  preheader: string | null;
};
const PARTS = ['subject', 'html', 'text', 'preheader'] as const;
type Part = (typeof PARTS)[number];
type Parsed = Record<Part, ReturnType<Liquid['parse']> | null>;

/** A failure of one part, which is what its author has to look at. */
export class PartFailed extends Error {
  readonly part: Part;

  constructor(part: Part, cause: unknown) {
    super(toReason(cause), { cause });
    this.part = part;
  }
}

const engineOf = ({ html, plain }: Engines, part: Part): Liquid => (part === 'html' ? html : plain);

/** Whatever fails in it is a failure of the part. */
export const inPart = <T>(part: Part, work: () => T): T => {
  try {
    return work();
  } catch (error) {
    throw error instanceof PartFailed ? error : new PartFailed(part, error);
  }
};

export const parsePart = (part: Part, source: string) =>
  inPart(part, () => engineOf(strict, part).parse(source));

const parseSource = (source: Source): Parsed => {
  const parse = (part: Part) => {
    const written = source[part];
    return written === null ? null : parsePart(part, written);
  };
  return {
    subject: parse('subject'),
    html: parse('html'),
    text: parse('text'),
    preheader: parse('preheader'),
  };
};

const PARSED_MAX = 100;
const PARSED_CHARS_MAX = 4 * 1024 * 1024;

/** What versions of templates were parsed to: they never change, so each is parsed once. The oldest goes first. */
class ParsedVersions {
  readonly #known = new Map<string, { parsed: Parsed; chars: number }>();
  #chars = 0;

  of(key: string, source: Source): Parsed {
    const found = this.#known.get(key);
    if (found) return found.parsed;
    const parsed = parseSource(source);
    const chars = PARTS.reduce((sum, part) => sum + (source[part]?.length ?? 0), 0);
    this.#known.set(key, { parsed, chars });
    this.#chars += chars;
    for (const [old, { chars: size }] of this.#known) {
      if (this.#known.size <= PARSED_MAX && this.#chars <= PARSED_CHARS_MAX) break;
      this.#known.delete(old);
      this.#chars -= size;
    }
    return parsed;
  }
}
const versions = new ParsedVersions();

/** Renders one part as it is written, which says of an error where it is. */
export const renderPart = (part: Part, source: string, variables: Variables): string =>
  inPart(part, () => String(engineOf(strict, part).parseAndRenderSync(source, variables)));

/** `hasText`: whether the text is the template's own. A blank one is none, as a blank preheader is. */
const renderParsed = (
  parsed: Parsed,
  variables: Variables,
  engines: Engines,
): { message: Rendered; hasText: boolean } => {
  const show = (part: Part): string => {
    const written = parsed[part];
    return written === null ? '' : String(engineOf(engines, part).renderSync(written, variables));
  };
  const body = inPart('html', () => bounded(show('html')));
  const own = inPart('text', () => bounded(show('text')));
  const hasText = own.trim() !== '';
  const text = hasText ? own : inPart('text', () => bounded(toTextPart(body)));
  const subject = inPart('subject', () => toSubject(show('subject')));
  const html = inPart('preheader', () => bounded(withPreheader(body, show('preheader'))));
  return { message: { subject, html, text }, hasText };
};

export type RenderedDraft = Rendered & { preheader: string; hasText: boolean };

/** Renders what is no version yet, or fails with its part; leniently to show what there is. */
export const renderDraft = (
  source: Source,
  variables: Variables,
  isLenient = false,
): RenderedDraft => {
  const parsed = parseSource(source);
  const engines = isLenient ? lenient : strict;
  const { message, hasText } = renderParsed(parsed, variables, engines);
  const { preheader } = parsed;
  const line = preheader === null ? '' : String(engines.plain.renderSync(preheader, variables));
  return { ...message, preheader: toLine(line), hasText };
};

const TIME_LIMIT = /render limit exceeded/;
/** Whether a rendering took too long: another one would take as long. */
const isOfTime = (error: unknown): boolean => TIME_LIMIT.test(toReason(error));
const MICROSECONDS_PER_MS = 1_000;
const TRIES_MAX = 3;

/** Milliseconds of processor time that this thread has used. */
export const threadCpuMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / MICROSECONDS_PER_MS;
};

type Rendering = { key?: string; guard?: Guard | null; isBare?: boolean };

/**
 * Renders a template for one person. The text part is derived from the HTML when the template has none. A failure is
 * final for a mail, so a template is not blamed for time that the machine took: a busy one, or one that slept.
 */
export const render = (
  source: Source,
  variables: Variables,
  { key, guard = null, isBare = false }: Rendering = {},
): RenderOutcome => {
  for (let tries = 1; ; tries += 1) {
    const cpuBefore = threadCpuMs();
    try {
      const parsed = key === undefined ? parseSource(source) : versions.of(key, source);
      const renderWith = (those: Variables) => renderParsed(parsed, those, strict).message;
      const safety = { guard, isFinal: isOfTime, isBare };
      return { kind: 'rendered', ...renderGuarded(renderWith, variables, safety) };
    } catch (error) {
      const { part, message } =
        error instanceof PartFailed ? error : { part: 'html', message: toReason(error) };
      const isMachines =
        TIME_LIMIT.test(message) && threadCpuMs() - cpuBefore < RENDER_TIME_MAX_MS / 2;
      if (!isMachines || tries === TRIES_MAX)
        return {
          kind: 'failed',
          reason: `${part}, ${message}`,
          missing: error instanceof PartFailed ? missingVariable(error.cause) : null,
        };
    }
  }
};
