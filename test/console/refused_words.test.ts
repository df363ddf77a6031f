// Whatever a webhook refuses, its project is told what to do about it.
import { describe, expect, test } from 'vitest';
import { refusals } from '../../src/base/refusal.ts';
import { adviceOn, FALLBACK } from '../../src/console/parts/refused_words.ts';
import { refusalsOf } from '../../src/http/openapi_refusals.ts';
import { sections } from '../../src/http/routes.ts';

/** Answered before anybody knows what for. */
const OF_NOBODY: readonly string[] = ['not_found', 'headers_too_large'];

/** What is counted as refused: whatever is the poster's own fault, and concerns a project that there is. */
const names = sections
  .flatMap(({ routes }) => routes)
  .filter(({ access }) => access === 'webhook')
  .flatMap((one) => refusalsOf(one))
  .filter((name) => refusals[name].status < 500 && !OF_NOBODY.includes(name));

test('webhooks refuse what is not proven, and what cannot be read', () => {
  expect(names).toEqual(expect.arrayContaining(['invalid_token', 'foreign_topic', 'invalid_json']));
});

describe.each(['token', 'signing_key', 'topic'] as const)('proven by a %s', (proof) => {
  test.each([...new Set(names)])('%s', (name) => {
    expect(adviceOn(proof, name)).not.toBe(FALLBACK);
  });

  test('a name of another time', () => {
    expect(adviceOn(proof, 'of_another_time')).toBe(FALLBACK);
  });
});

test('who posts through Amazon is sent to Amazon, and nobody else', () => {
  expect(adviceOn('topic', 'invalid_signature')).toMatch(/Amazon SNS/);
  expect(adviceOn('signing_key', 'invalid_signature')).toMatch(/Mailgun/);
});
