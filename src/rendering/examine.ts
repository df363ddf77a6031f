import { Refusal } from '../base/refusal.ts';
import type { Issue } from '../base/refusal.ts';
import { findEventVariables } from './event_variables.ts';
import { missingVariable } from './faults.ts';
import { TEMPLATE_CHARS_MAX } from './limits.ts';
import { findUnknown, listMentioned, listUnlikely, nameOf } from './mentions.ts';
import type { RenderedVariable } from './mentions.ts';
import { compileMjml } from './mjml.ts';
import { inPart, parsePart, PartFailed, renderDraft, renderPart } from './render.ts';
import type { RenderedDraft, Source } from './render.ts';
import { makeSample, SAMPLE_URL, withRest } from './sample.ts';
import type { Sample } from './variables.ts';
import { listWarnings } from './warnings.ts';
import type { Warning } from './warnings.ts';
import { listWhole } from './whole.ts';

/** What an author writes: a body in HTML or in MJML. */
export type Written = {
  subject: string;
  preheader: string | null;
  text: string | null;
  html: string | null;
  mjml: string | null;
  /** Somebody to try it on; made of what the template mentions where it is null. */
  sample: Sample | null;
};

/** What came of looking at a template: all that a version is kept with, or what is wrong with it. */
export type Examined =
  | {
      kind: 'good';
      html: string;
      sample: Sample;
      variables: string[];
      eventVariables: string[];
      warnings: Warning[];
    }
  | { kind: 'refused'; issues: Issue[] };

const PARTS = ['subject', 'preheader', 'text', 'html', 'mjml'] as const;

/** Whose rules a part is rendered by. */
const partOf = (name: (typeof PARTS)[number]) => (name === 'mjml' ? 'html' : name);

const listWritten = (written: Written) =>
  PARTS.flatMap((name) => {
    const source = written[name];
    return source === null ? [] : [{ name, part: partOf(name), source }];
  });

const toIssue = (name: string, error: unknown): Issue => {
  if (!(error instanceof PartFailed)) throw error;
  return { path: `/${name}`, message: error.message };
};

type Found = { issues: Issue[]; mentioned: RenderedVariable[]; unlikely: string[] };

/**
 * What Liquid cannot read, and variables that nobody has. Says what is mentioned where there is neither, and what of
 * it is hardly meant so.
 */
const read = (written: Written): Found => {
  const issues: Issue[] = [];
  const mentioned: RenderedVariable[] = [];
  const unlikely: string[] = [];
  for (const { name, part, source } of listWritten(written)) {
    try {
      const those = inPart(part, () => listMentioned(parsePart(part, source)));
      mentioned.push(...those);
      unlikely.push(...listUnlikely(those).map((says) => `${part}, ${says}`));
      for (const message of findUnknown(those)) issues.push({ path: `/${name}`, message });
    } catch (error) {
      issues.push(toIssue(name, error));
    }
  }
  return { issues, mentioned, unlikely };
};

const SAMPLE_ADVICE = ' Or put it into the sample, if it is always there.';

/** Each part as it is written, tried on the sample: lines and columns are those of the author. */
const tryOn = (written: Written, sample: Sample): Issue[] =>
  listWritten(written).flatMap(({ name, part, source }) => {
    try {
      renderPart(part, source, withRest(sample));
      return [];
    } catch (error) {
      const issue = toIssue(name, error);
      const isMissing = missingVariable((error as Error).cause) !== null;
      return [isMissing ? { ...issue, message: issue.message + SAMPLE_ADVICE } : issue];
    }
  });

const compile = async (mjml: string): Promise<string> => {
  const html = await compileMjml(mjml);
  if (html.length <= TEMPLATE_CHARS_MAX) return html;
  const message =
    `makes ${html.length} characters of HTML, and at most ${TEMPLATE_CHARS_MAX} are taken: ` +
    'make it smaller';
  throw new Refusal('invalid_request', { issues: [{ path: '/mjml', message }] });
};

/** What MJML refuses, as a list; whatever else is thrown is a mistake of ours. */
const issuesIn = (error: unknown): Issue[] => {
  if (!(error instanceof Refusal)) throw error;
  return error.extras.issues ?? [];
};

const renderWhole = (source: Source, sample: Sample): RenderedDraft | Issue[] => {
  try {
    return renderDraft(source, withRest(sample));
  } catch (error) {
    return [toIssue(error instanceof PartFailed ? error.part : '', error)];
  }
};

/** What each part would show whole. Without escaping it is parsed to what its author has written, and nothing else. */
const findWhole = (written: Written, sample: Sample): string[] =>
  listWritten(written).flatMap(({ part, source }) => {
    const asked = { variables: withRest(sample), isGiven: written.sample !== null };
    return listWhole(parsePart('text', source), asked).map((says) => `${part}, ${says}`);
  });

/** Looks at a template as it is saved: reads it, tries it on its sample, and says what is wrong with it and where. */
export const examine = async (written: Written): Promise<Examined> => {
  const { issues, mentioned, unlikely } = read(written);
  if (issues.length > 0) return { kind: 'refused', issues };
  const sample = written.sample ?? makeSample(mentioned);
  const failed = tryOn(written, sample);
  if (failed.length > 0) return { kind: 'refused', issues: failed };
  const { subject, text, preheader, mjml } = written;
  let html = written.html ?? '';
  try {
    if (mjml !== null) html = await compile(mjml);
  } catch (error) {
    return { kind: 'refused', issues: issuesIn(error) };
  }
  const rendered = renderWhole({ subject, html, text, preheader }, sample);
  if (Array.isArray(rendered)) return { kind: 'refused', issues: rendered };
  // Whoever gives a sample has shown what there is.
  const odd = written.sample === null ? unlikely : [];
  const warnings = [
    ...odd.map((message) => ({ warning: 'unlikely_variable' as const, message })),
    ...findWhole(written, sample).map((message) => ({ warning: 'whole_object' as const, message })),
    ...listWarnings(rendered, SAMPLE_URL),
  ];
  const variables = [...new Set(mentioned.map(nameOf))].toSorted();
  const eventVariables = findEventVariables({ html, others: [subject, preheader, text] });
  return { kind: 'good', html, sample, variables, eventVariables, warnings };
};
