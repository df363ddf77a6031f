import { listMentioned, nameOf } from './mentions.ts';
import { inPart, parsePart } from './render.ts';

/** Asks whether there is an event, or says what stands for it where there is none. */
const ASKED = /\{%-?\s*(?:if|elsif|unless|case)\b[^%]*\bevent\b/;
const DEFAULTED = /\{\{-?\s*event\b[^{}|]*\|\s*default\b[^{}]*\}\}/g;

const listIn = (part: 'html' | 'text', source: string): string[] => {
  if (!source.includes('event') || ASKED.test(source)) return [];
  const mentioned = inPart(part, () =>
    listMentioned(parsePart(part, source.replaceAll(DEFAULTED, ''))),
  );
  return mentioned.filter(({ root }) => root === 'event').map(nameOf);
};

/**
 * The variables of an event that a template cannot do without. A part that asks whether there is one, or that
 * says what stands for it by `default`, is taken to know what it does. Runs in a thread: a template may make it slow.
 */
export const findEventVariables = ({
  html,
  others,
}: {
  html: string;
  others: readonly (string | null)[];
}): string[] => {
  const found = others.flatMap((source) => listIn('text', source ?? ''));
  return [...new Set([...found, ...listIn('html', html)])].slice(0, EVENT_VARIABLES_MAX);
};

/** How many are kept with a version: one is enough to say why it cannot be sent. */
const EVENT_VARIABLES_MAX = 20;
