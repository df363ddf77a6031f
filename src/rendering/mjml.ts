import { Refusal } from '../base/refusal.ts';
import type { Issue } from '../base/refusal.ts';

const INCLUDE = /<\s*mj-include/i;
/** What Liquid takes for its own: outputs and tags. */
const LIQUID = /\{\{[\s\S]*?\}\}|\{%[\s\S]*?%\}/g;

const refuse = (issues: readonly string[]): Refusal =>
  new Refusal('invalid_request', {
    issues: issues.map((message): Issue => ({ path: '/mjml', message })),
  });

type Fault = { line: number; message: string; tagName?: string };
type ValidationError = Error & { errors?: readonly Fault[] };

/** Where the element stands in its line, which the validator does not say. */
const columnOf = (source: string, { line, tagName = '' }: Fault): number =>
  Math.max(0, (source.split('\n')[line - 1] ?? '').indexOf(`<${tagName}`)) + 1;

/** The validator's own words without the files that it knows. */
const toMessages = (source: string, { errors = [] }: ValidationError): string[] =>
  errors.length > 0
    ? errors.map(
        (fault) =>
          `line ${fault.line}, column ${columnOf(source, fault)}: ${fault.message.trim()}. ` +
          'Please correct it: MJML knows it by another name, or not at that place.',
      )
    : ['this is not MJML: it must be one <mjml> element with an <mj-body>'];

/** Where a piece of text stands first. */
const placeOf = (source: string, piece: string): string => {
  const before = source.slice(0, source.indexOf(piece)).split('\n');
  return `line ${before.length}, column ${(before.at(-1) ?? '').length + 1}`;
};

/** Loads the compiler, which is large and which few threads need. */
export const loadMjml = () => import('mjml');

/**
 * Makes HTML of MJML, once, when a template is saved; Liquid stays as it is and is rendered per person.
 * Strict: refuses what MJML does not know, includes of any kind, and Liquid where MJML would leave it out
 * without a word. No font is loaded from anybody.
 */
export const compileMjml = async (source: string): Promise<string> => {
  if (INCLUDE.test(source))
    throw refuse(['mj-include is not possible here: put its content in its place']);
  const { default: mjml2html } = await loadMjml();
  const compiled = await Promise.resolve(
    mjml2html(source, { validationLevel: 'strict', ignoreIncludes: true, fonts: {} }),
  ).catch((error: unknown) => {
    throw refuse(toMessages(source, error as ValidationError));
  });
  const lost = (source.match(LIQUID) ?? []).find((tag) => !compiled.html.includes(tag));
  if (lost !== undefined)
    throw refuse([
      `${placeOf(source, lost)}: ${lost} stands where MJML leaves text out: put it into <mj-raw>`,
    ]);
  return compiled.html;
};
