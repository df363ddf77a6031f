import type { Liquid } from 'liquidjs';
import type { Scope } from '../base/db.ts';
import { findTemplate } from './queries.ts';

/** Asks whether there is an event, or says what stands for it where there is none. */
const ASKED = /\{%-?\s*(?:if|elsif|unless|case)\b[^%]*\bevent\b/;
const DEFAULTED = /\{\{-?\s*event\b[^{}|]*\|\s*default\b[^{}]*\}\}/g;

const listIn = (liquid: Liquid, source: string): string[] => {
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
  // Workers, which never ask, do not load it.
  const { Liquid } = await import('liquidjs');
  const liquid = new Liquid();
  const { subject, html, text, preheader } = template;
  const parts = [subject, html, text ?? '', preheader ?? ''];
  return [...new Set(parts.flatMap((part) => listIn(liquid, part)))];
};
