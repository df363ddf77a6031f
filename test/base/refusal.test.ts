import { expect, test } from 'vitest';
import { refusals } from '../../src/base/refusal.ts';

/** What clients branch on. A name may be added; one that is here keeps its meaning and stays. */
const PUBLISHED = {
  invalid_request: 400,
  occurred_at_out_of_range: 400,
  invalid_idempotency_key: 400,
  invalid_json: 400,
  invalid_token: 401,
  wrong_key_type: 403,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  identity_conflict: 409,
  being_erased: 409,
  send_not_unknown: 409,
  send_not_queued: 409,
  idempotency_key_in_use: 409,
  body_too_large: 413,
  unsupported_media_type: 415,
  idempotency_key_reused: 422,
  provider_preflight_failed: 422,
  rate_limited: 429,
  headers_too_large: 431,
  internal_error: 500,
  unavailable: 503,
  overloaded: 503,
};

test('a name that was published never changes, nor does its status', () => {
  const statuses = Object.entries(refusals).map(([name, { status }]) => [name, status]);
  expect(Object.fromEntries(statuses)).toMatchObject(PUBLISHED);
});

test('every refusal has a name in snake_case and says in a sentence what to do', () => {
  for (const [name, { status, detail }] of Object.entries(refusals)) {
    expect(name).toMatch(/^[a-z]+(_[a-z]+)*$/);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(detail).toMatch(/^[A-Z].{10,}\.$/);
  }
});
