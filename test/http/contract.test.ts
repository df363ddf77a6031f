// Whatever the API answers is what /v1/openapi.json says. Every call of every test is held to it by
// test/support/api.ts; here it is shown that this can fail, and that what is promised can be had.
import { execFileSync } from 'node:child_process';
import { beforeAll, describe, expect, test } from 'vitest';
import { toCurl } from '../../src/http/docs_curl.ts';
import { follow, listEndpoints } from '../../src/http/openapi_read.ts';
import type { Endpoint } from '../../src/http/openapi_read.ts';
import { makeDocument } from '../../src/http/openapi.ts';
import { sections } from '../../src/http/routes.ts';
import { newSend, sendsOf } from '../delivery/one_send.ts';
import { testApi } from '../support/api.ts';
import type { Call } from '../support/api.ts';
import { contractOf, findBreaches } from '../support/contract.ts';
import type { Exchange } from '../support/contract.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const api = testApi(database);
const document = makeDocument();
const endpoints = listEndpoints(document).filter(({ operation }) => operation.security?.length);

const named = (those: readonly Endpoint[]) =>
  those.map((one) => [`${one.method} ${one.path}`, one] as const);

/** The arguments that a line gives to curl, as a shell reads it. */
const readCurl = (line: string): { url: string; call: Call; method: string } => {
  const { publishable_key, server_key, hook_token } = api.project;
  const args = execFileSync('sh', ['-c', `curl() { printf '%s\\0' "$@"; }; ${line}`], {
    encoding: 'utf8',
    env: { PUBLISHABLE_KEY: publishable_key, SERVER_KEY: server_key, WEBHOOK_TOKEN: hook_token },
  })
    .split('\0')
    .slice(0, -1);
  const after = (flag: string) => args.flatMap((arg, at) => (args[at - 1] === flag ? [arg] : []));
  const headers = Object.fromEntries(
    after('-H').map((header) => header.split(': ') as [string, string]),
  );
  const [body] = after('-d');
  const url = args.find((arg) => arg.includes('/v1/') || arg.includes('/webhooks/')) ?? '';
  const method = after('-X')[0] ?? (body === undefined ? 'GET' : 'POST');
  return {
    url,
    method,
    call: { headers, ...(body === undefined ? {} : { body }), contentType: null },
  };
};

const EXAMPLE_ID = '019a9f0c-6c00-7cc3-98c4-dc0c0c07398f';

/** Calls an endpoint as its example in the documents does, for a project in which there is something. */
const callAsShown = (endpoint: Endpoint) => {
  const { url, method, call } = readCurl(toCurl(endpoint).replace('{base_url}', ''));
  const isWebhook = url.includes('/webhooks/');
  const path = isWebhook ? url.replace(EXAMPLE_ID, api.project.project_id) : url;
  return api.call(method, path, call);
};

describe('the examples of the documents', () => {
  beforeAll(async () => {
    await api.call('POST', '/v1/events', {
      key: api.project.server_key,
      body: { event: 'user_signed_up', external_id: 'ann' },
    });
    await api.processEvents();
    for (const anonymous_id of ['device-1', 'device-2']) {
      const body = { anonymous_id, external_id: 'ann' };
      await api.call('POST', '/v1/identify/alias', { key: api.project.server_key, body });
    }
    await database.owner.query(
      'update identity.links set link_id = $1 where link_id = (select min(link_id::text)::uuid from identity.links)',
      [EXAMPLE_ID],
    );
    const sends = sendsOf(database, api.project.project_id);
    await sends.plan(newSend({ sendId: EXAMPLE_ID }));
    await database.owner.query(
      `insert into profiles.erasures (project_id, erasure_id, profile_id, status, requested_by, requested_at)
      values ($1, $2, $2, 'pending', 'server_key', now())`,
      [api.project.project_id, EXAMPLE_ID],
    );
  });

  test.each(named(endpoints))('%s does what is shown', async (_name, endpoint) => {
    const [promised] = Object.keys(endpoint.operation.responses ?? {});
    const { status } = await callAsShown(endpoint);
    expect(String(status)).toBe(promised);
  });
});

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

describe('what every endpoint promises to refuse can be had', () => {
  const keyOf = ({ operation }: Endpoint): string => {
    const [scheme = ''] = (operation.security ?? []).flatMap((one) => Object.keys(one));
    const { publishable_key, server_key, hook_token } = api.project;
    return { publishable_key, server_key }[scheme] ?? hook_token;
  };
  const pathOf = ({ path }: Endpoint): string =>
    path
      .replace('{slug}', 'smtp')
      .replace('{project_id}', api.project.project_id)
      .replace('{id}', EXAMPLE_ID);
  const elsewhere = ({ path }: Endpoint): string => path.replaceAll(/\{\w+\}/g, 'x');
  const bodyOf = ({ operation }: Endpoint): Call => (operation.requestBody ? { body: {} } : {});
  const tooLarge = `"${'a'.repeat(2 * 1024 * 1024)}"`;

  /**
   * How each name is provoked; the others are in failures, connections, paths, flusher, rate_limits and
   * idempotency.test.ts.
   */
  const provoke: Record<string, (endpoint: Endpoint) => [path: string, call: Call]> = {
    invalid_request: (one) =>
      one.operation.requestBody
        ? [pathOf(one), { key: keyOf(one), body: '[]' }]
        : [
            one.path.includes('{') ? one.path.replace('{id}', '%E0%A4%A') : `${one.path}?what=1`,
            { key: keyOf(one) },
          ],
    occurred_at_out_of_range: (one) => {
      const person = { external_id: 'ann', occurred_at: '1999-01-01T00:00:00Z' };
      const event = one.path.includes('event') ? { ...person, event: 'a' } : person;
      return [
        pathOf(one),
        { key: keyOf(one), body: one.path.endsWith('batch') ? { events: [event] } : event },
      ];
    },
    identity_conflict: (one) => {
      const body = { anonymous_id: 'device-2', external_id: 'bob' };
      return [pathOf(one), { key: keyOf(one), body }];
    },
    invalid_idempotency_key: (one) => [
      pathOf(one),
      { key: keyOf(one), ...bodyOf(one), headers: { 'Idempotency-Key': 'a b' } },
    ],
    invalid_json: (one) => [pathOf(one), { key: keyOf(one), body: '{' }],
    invalid_token: (one) => [pathOf(one), { key: null, ...bodyOf(one) }],
    wrong_key_type: (one) => [pathOf(one), { key: api.project.publishable_key }],
    not_found: (one) => [elsewhere(one), { key: keyOf(one), ...bodyOf(one) }],
    body_too_large: (one) => [pathOf(one), { key: keyOf(one), body: tooLarge }],
    unsupported_media_type: (one) => [
      pathOf(one),
      { key: keyOf(one), body: '{}', contentType: 'text/plain' },
    ],
  };
  const ELSEWHERE = [
    'request_timeout',
    'headers_too_large',
    'internal_error',
    'unavailable',
    'overloaded',
    'rate_limited',
    'idempotency_key_in_use',
    'idempotency_key_reused',
  ];

  const promised = endpoints.flatMap((endpoint) =>
    Object.values(endpoint.operation.responses as Record<string, { $ref?: string }>).flatMap(
      (response) => {
        const { content } = follow<{ content?: Record<string, { examples?: object }> }>(
          document,
          response as never,
        );
        const names = Object.keys(content?.['application/json']?.examples ?? {});
        return names
          .filter((name) => !ELSEWHERE.includes(name))
          .map((name) => [`${endpoint.method} ${endpoint.path}`, name, endpoint] as const);
      },
    ),
  );

  test.each(promised)('%s: %s', async (_name, name, endpoint) => {
    const [path, call] = provoke[name]?.(endpoint) ?? ['', {}];
    const { body } = await api.call(endpoint.method, path, call);
    expect(body).toMatchObject({ error: name });
  });
});
