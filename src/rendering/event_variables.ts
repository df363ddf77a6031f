import { Liquid } from 'liquidjs';
import type { Scope } from '../base/db.ts';
import { findTemplate } from './queries.ts';

const liquid = new Liquid();

/** Asks whether there is an event, or says what stands for it where there is none. */
const ASKED = /\{%-?\s*(?:if|elsif|unless|case)\b[^%]*\bevent\b/;
const DEFAULTED = /\{\{-?\s*event\b[^{}|]*\|\s*default\b[^{}]*\}\}/g;

const listIn = (source: string): string[] => {
  if (ASKED.test(source)) return [];
  const parsed = liquid.parse(source.replaceAll(DEFAULTED, ''));
  return liquid
    .globalVariableSegmentsSync(parsed)
    .filter(([root]) => root === 'event')
    .map((segments) => segments.join('.'));
};

/**
 * The variables of an event that a template cannot do without. A part that asks whether there is one, or that
 * says what stands for it by `default`, is taken to know what it does.
 */
export const listEventVariables = async (
  scope: Scope,
  templateId: string,
  version: number,
): Promise<string[]> => {
  const template = await findTemplate(scope, templateId, version);
  if (!template) return [];
  const { subject, html, text, preheader } = template;
  return [...new Set([subject, html, text ?? '', preheader ?? ''].flatMap(listIn))];
};
