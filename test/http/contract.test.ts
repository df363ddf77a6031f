// Whatever the API answers is what /v1/openapi.json says. Every call of every test is held to it by
// test/support/api.ts; here it is shown that this can fail.
import { describe, expect, test } from 'vitest';
import { makeDocument } from '../../src/http/openapi.ts';
import { sections } from '../../src/http/routes.ts';
import { contractOf, findBreaches } from '../support/contract.ts';
import type { Exchange } from '../support/contract.ts';

/** An answer as the API would give it. */
const answer = (given: Partial<Exchange>): Exchange => ({
  method: 'GET',
  path: '/v1/suppressions',
  status: 200,
  headers: new Headers({ 'content-type': 'application/json', 'x-request-id': 'req_12345678' }),
  body: { items: [], next_cursor: null },
  ...given,
});
const refusal = (error: string, status: number, more = {}) => ({
  status,
  body: { error, status, detail: 'What to do about it.', request_id: 'req_12345678', ...more },
});

describe('an answer that is not described', () => {
  test('one that is described passes', () => {
    expect(findBreaches(answer({}))).toEqual([]);
    expect(findBreaches(answer(refusal('wrong_key_type', 403)))).toEqual([]);
    expect(findBreaches(answer({ path: '/v1/nowhere', ...refusal('not_found', 404) }))).toEqual([]);
  });

  test.each<[string, Partial<Exchange>]>([
    ['a status', { ...refusal('not_found', 404) }],
    ['a member too many', { body: { items: [], next_cursor: null, total: 0 } }],
    ['a member too few', { body: { items: [] } }],
    ['a value of another type', { body: { items: {}, next_cursor: null } }],
    [
      'a member too many deep inside',
      {
        body: {
          items: [
            {
              email: null,
              reason: 'manual',
              source: 'a',
              created_at: '2026-01-31T12:00:00Z',
              id: 1,
            },
          ],
          next_cursor: null,
        },
      },
    ],
    [
      'a time that is not UTC',
      {
        body: {
          items: [
            {
              email: null,
              reason: 'manual',
              source: 'a',
              created_at: '2026-01-31T13:00:00.000+01:00',
            },
          ],
          next_cursor: null,
        },
      },
    ],
    ['no body', { body: null }],
    ['another name of the same status', refusal('not_signed_in', 401)],
    ['a name that nobody knows', refusal('teapot', 400)],
    ['another status in the body', { status: 403, body: refusal('wrong_key_type', 401).body }],
    ['a member too many in an error', refusal('wrong_key_type', 403, { stack: 'at …' })],
    ['another media type', { headers: new Headers({ 'x-request-id': 'req_12345678' }) }],
    ['no X-Request-Id', { headers: new Headers({ 'content-type': 'application/json' }) }],
    ['no WWW-Authenticate', refusal('invalid_token', 401)],
    ['a method', { method: 'DELETE' }],
    ['no Allow', { method: 'DELETE', ...refusal('method_not_allowed', 405) }],
    ['a path', { path: '/v1/suppression' }],
    [
      'a request taken that is not',
      {
        method: 'POST',
        path: '/v1/events',
        status: 202,
        body: { accepted: 1, duplicates: 0, event_ids: [] },
        sent: '{"event":"Signed Up"}',
      },
    ],
  ])('is noticed: %s', (_what, given) => {
    expect(findBreaches(answer(given))).not.toEqual([]);
  });

  test('an endpoint that is left out of the document is noticed', () => {
    const find = contractOf(makeDocument(sections.filter(({ tag }) => tag !== 'Suppressions')));
    expect(find(answer({}))).toEqual(['200, but 404 is promised']);
  });
});
