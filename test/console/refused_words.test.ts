// For each error of a webhook, the Console says what to do about it.
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

const signing_key = { name: 'Signing secret', is_required: false };
const vendor = (verified_by: 'token' | 'signing_key' | 'topic') => ({
  name: 'Resend',
  verified_by,
  signing_key: verified_by === 'signing_key' ? signing_key : null,
  signing_key_set_at: verified_by === 'signing_key' ? '2026-01-31T12:00:00.000Z' : null,
});

describe.each(['token', 'signing_key', 'topic'] as const)('verified by a %s', (proof) => {
  test.each([...new Set(names)])('%s', (name) => {
    expect(adviceOn(vendor(proof), name)).not.toBe(FALLBACK);
  });

  test('a name of another time', () => {
    expect(adviceOn(vendor(proof), 'of_another_time')).toBe(FALLBACK);
  });
});

test('the advice about a signature names its vendor and the key', () => {
  expect(adviceOn(vendor('topic'), 'invalid_signature')).toMatch(/Amazon SNS/);
  expect(adviceOn(vendor('signing_key'), 'invalid_signature')).toMatch(
    /Copy the signing secret from your account at Resend/,
  );
  expect(adviceOn({ ...vendor('token'), signing_key }, 'invalid_signature')).toMatch(
    /no webhook token, and no signing secret of Resend is set/,
  );
  expect(
    adviceOn({ ...vendor('signing_key'), signing_key_set_at: null }, 'invalid_signature'),
  ).toMatch(/^No signing secret is set/);
});
