// Every audited procedure and endpoint is said in words, and none that is not.
import { expect, test } from 'vitest';
import { isAudited } from '../../src/base/route.ts';
import { AUDIT_WORDS, auditWords } from '../../src/console/parts/audit_words.ts';
import { sections } from '../../src/http/routes.ts';
import { unaudited } from '../admin/audited_inputs.ts';
import { procedures } from '../admin/role_table.ts';

const mutations = procedures
  .filter(({ type, isReading }) => type === 'mutation' && !isReading)
  .map(({ name }) => name)
  .filter((name) => !unaudited.includes(name));
const endpoints = sections
  .flatMap(({ routes }) => routes)
  .filter(isAudited)
  .map(({ method, path }) => `${method} ${path}`);
/** What operators run, and what the service does because of what Amazon says. */
const isOfOthers = (name: string): boolean => /^(?:make|amazon-ses:) /.test(name);

test('every change of the Console and of the API has its words', () => {
  expect(mutations.length).toBeGreaterThan(50);
  expect(endpoints.length).toBeGreaterThan(30);
  const known = [...AUDIT_WORDS.keys()].filter((name) => !isOfOthers(name));
  expect(known.toSorted()).toEqual([...mutations, ...endpoints].toSorted());
});

test('words are a short sentence; a name without words says itself', () => {
  for (const words of AUDIT_WORDS.values()) expect(words).toMatch(/^[A-Z][a-z][\w -]{5,45}$/);
  expect(auditWords('things.did')).toBe('things.did');
});
