import { Resolver } from 'node:dns/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { HTTPS_TIMEOUTS } from '../../src/base/https.ts';
import { classify, readPermissions, relayApi } from '../../src/providers/relay_api.ts';
import type { Link, Network } from '../../src/providers/transport.ts';
import { httpsSink } from '../support/https_sink.ts';
import type { HttpAction } from '../support/https_sink.ts';
import { API_KEY, mimeOf, NO_SUCH_KEY, relayError, relaySink } from '../support/relay_sink.ts';
import { holdsOverHttps } from './over_https.ts';
import { toWire } from './wire.ts';

const sink = relaySink();
const strangers = relaySink({ trusted: false });
const plain = relaySink({ secure: false });
const elsewhere = httpsSink({ usually: () => ({ status: 200, json: {} }) });
beforeEach(() => sink.reset());

const SETTINGS = { provider: 'relay_api', api_key: API_KEY } as const;
const SEND = '/email/mime';
const PERMISSIONS = '/api_keys/permissions';
const CODE = 'E_ApiResponseCodes';
const network = (given: Partial<Network> = {}): Network => ({
  allowNetworks: ['127.0.0.0/8'],
  relayApiUrl: `${sink.url}/v3`,
  cloudApiUrl: null,
  nameServers: new Resolver(),
  ehloName: null,
  answerTimeoutMs: 60_000,
  ...given,
});
const PARTIES = { from: 'hello@acme.test', to: 'ada@example.test', secrets: [API_KEY] };
const IMPATIENT = { ...HTTPS_TIMEOUTS, headersMs: 100, answerMs: 200 };

const RAW = Buffer.from('From: hello@acme.test\r\nTo: ada@example.test\r\n\r\nHällo\r\n.\r\n');
const message = toWire('send-1', RAW);

const links: Link[] = [];
afterEach(() => {
  for (const link of links.splice(0)) link.close();
});
const open = async (given: Partial<Network> = {}, settings = SETTINGS): Promise<Link> => {
  const outcome = await relayApi.connect(settings, network(given));
  if (outcome.kind === 'failed') throw new Error(JSON.stringify(outcome.outcome));
  links.push(outcome.link);
  return outcome.link;
};
const send = async (given: Partial<Network> = {}) => (await open(given)).send(message());
const preflight = (given: Partial<Network> = {}, api_key: string = API_KEY) =>
  relayApi.preflight({ ...SETTINGS, api_key }, network(given), 'hello@acme.test');
const failed = (reason: string) => ({ kind: 'failed', reason });
const deferred = (reason: string, more = {}) => ({ kind: 'deferred', reason, ...more });
const rejected = (reason: string) => ({ kind: 'rejected', reason });
const bounced = (codes: string, type = 'hard') => ({
  ...rejected('recipient_refused'),
  bounce: { type, codes },
});

describe('a preflight', () => {
  test('passes with a key that may send, and sends nothing', async () => {
    expect(await preflight()).toEqual({ kind: 'passed' });
    const [asked, ...more] = sink.requests;
    expect(more).toEqual([]);
    expect(asked).toMatchObject({ method: 'POST', path: `/v3${PERMISSIONS}` });
    expect(asked?.headers['x-smtp2go-api-key']).toBe(API_KEY);
    expect(asked?.body.toString()).toBe('{}');
  });

  test('permission_denied: a key that is known and may not send', async () => {
    sink.play(PERMISSIONS, { status: 200, json: { data: ['/stats/email_summary'] } });
    expect(await preflight()).toEqual(failed('permission_denied'));
  });

  test('invalid_key: by its status, or by its words whatever the status', async () => {
    expect(await preflight({}, 'api-wrong')).toEqual(failed('invalid_key'));
    for (const status of [200, 400, 500]) {
      sink.play(PERMISSIONS, relayError(status, `${CODE}.API_EXCEPTION`, NO_SUCH_KEY), 1);
      expect(await preflight()).toEqual(failed('invalid_key'));
    }
  });

  test('connection_failed: closed port, unknown name, closed network, no TLS outside allowed ones', async () => {
    const closedPort = 'https://127.0.0.1:1/v3';
    expect(await preflight({ relayApiUrl: closedPort })).toEqual(failed('connection_failed'));
    expect(await preflight({ relayApiUrl: 'https://relay.invalid/v3' })).toEqual(
      failed('connection_failed'),
    );
    const before = sink.connections;
    expect(await preflight({ allowNetworks: [] })).toEqual(failed('connection_failed'));
    expect(sink.connections).toBe(before);
    expect(await preflight({ relayApiUrl: plain.url, allowNetworks: ['10.0.0.0/8'] })).toEqual(
      failed('connection_failed'),
    );
    expect(await preflight({ relayApiUrl: `${plain.url}/v3` })).toEqual({ kind: 'passed' });
  });

  test('certificate_invalid: an authority that nobody knows', async () => {
    expect(await preflight({ relayApiUrl: strangers.url })).toEqual(failed('certificate_invalid'));
    expect(strangers.requests).toEqual([]);
  });

  test.each<[HttpAction, string]>([
    ['drop', 'connection_failed'],
    ['hang', 'connection_failed'],
    ['truncate', 'provider_unavailable'],
    ['endless', 'provider_unavailable'],
    ['drip', 'provider_unavailable'],
    [{ status: 502, text: '<h1>Bad gateway</h1>' }, 'provider_unavailable'],
    [{ status: 200, text: '["/email/send"]' }, 'provider_unavailable'],
    [{ status: 429, json: {} }, 'throttled'],
  ])('%j is %s', async (action, reason) => {
    sink.play(PERMISSIONS, action);
    const httpsTimeouts = typeof action === 'string' ? IMPATIENT : HTTPS_TIMEOUTS;
    expect(await preflight({ httpsTimeouts })).toEqual(failed(reason));
  });
});

describe('a message', () => {
  test('accepted: arrives byte for byte, with the id that feedback will name', async () => {
    expect(await send()).toMatchObject({
      kind: 'accepted',
      providerMessageId: '1x2y3z-FnQW0aaaaaa-AB12',
    });
    const [sent, ...more] = sink.requests;
    expect(more).toEqual([]);
    expect(sent).toMatchObject({ method: 'POST', path: `/v3${SEND}` });
    expect(sent && mimeOf(sent)).toBe(RAW.toString());
  });

  holdsOverHttps(sink, open, message);

  test('a redirect is not followed', async () => {
    sink.play(SEND, { status: 307, headers: { location: `${elsewhere.url}/v3${SEND}` } });
    expect(await send()).toMatchObject(deferred('provider_unavailable'));
    expect(elsewhere.requests).toEqual([]);
  });

  test.each<[HttpAction]>([['drop'], ['hang'], ['truncate'], ['endless'], ['drip']])(
    'unknown: %j once it is written, and the connection is not used again',
    async (action) => {
      sink.play(SEND, action);
      const link = await open({ httpsTimeouts: IMPATIENT });
      expect(await link.send(message())).toEqual({ kind: 'unknown' });
      expect([link.isOpen, sink.requests.length]).toEqual([false, 1]);
    },
  );

  test.each<[HttpAction, object]>([
    [{ status: 500, text: 'oops' }, { kind: 'unknown' }],
    [{ status: 502, json: {} }, { kind: 'unknown' }],
    [{ status: 504, json: {} }, { kind: 'unknown' }],
    [{ status: 200, text: '{"data":{"email_id":"a"}}' }, { kind: 'unknown' }],
    [{ status: 200, json: {} }, { kind: 'unknown' }],
    [{ status: 200, json: { data: {} } }, { kind: 'unknown' }],
    [
      { status: 503, json: {}, headers: { 'retry-after': '7' } },
      deferred('provider_unavailable', { retryAfterSeconds: 7 }),
    ],
    [
      { status: 429, json: {}, headers: { 'retry-after': '30' } },
      deferred('throttled', { retryAfterSeconds: 30 }),
    ],
    [{ status: 429, json: {}, headers: { 'retry-after': 'soon' } }, deferred('throttled')],
    [relayError(400, `${CODE}.API_EXCEPTION`, 'API key ratelimit exceeded'), deferred('throttled')],
    [{ status: 402, json: {} }, deferred('quota_exhausted', { waits: 'hold' })],
    [{ status: 401, json: {} }, deferred('invalid_key')],
    [{ status: 403, text: 'no' }, deferred('permission_denied')],
    [{ status: 404, json: {} }, deferred('provider_unavailable')],
    [{ status: 422, json: {} }, rejected('message_refused')],
  ])('%j', async (action, outcome) => {
    sink.play(SEND, action);
    expect(await send()).toMatchObject(outcome);
  });
});

describe('classify', () => {
  const answer = (status: number, json: unknown) => ({
    status,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify(json)),
  });
  const DENIED = 'You do not have permission to access this API endpoint';
  const UNVERIFIED = 'From header sender domain not verified';

  test.each<[string, unknown, object]>([
    [
      'in data',
      { data: { error_code: `${CODE}.ENDPOINT_PERMISSION_DENIED`, error: DENIED } },
      deferred('permission_denied'),
    ],
    [
      'at the top',
      { error: UNVERIFIED, error_code: `${CODE}.API_EXCEPTION` },
      deferred('sender_not_verified', { waits: 'park' }),
    ],
    [
      'with a field',
      {
        data: { error_code: 'x', field_validation_errors: { fieldname: 'subject', message: 'a' } },
      },
      rejected('message_refused'),
    ],
    [
      'with several fields',
      { data: { error_code: 'x', field_validation_errors: [{ fieldname: 'subject' }] } },
      rejected('message_refused'),
    ],
  ])('reads an error %s, with 400 and inside a 200', (_where, json, outcome) => {
    expect(classify(answer(400, json), PARTIES)).toMatchObject(outcome);
    expect(classify(answer(200, json), PARTIES)).toMatchObject(outcome);
  });

  test('reads failures inside a 200', () => {
    const data = { succeeded: 0, failed: 1, email_id: '1x' };
    expect(classify(answer(200, { data }), PARTIES)).toMatchObject(rejected('message_refused'));
    expect(
      classify(answer(200, { data: { ...data, failures: [UNVERIFIED] } }), PARTIES),
    ).toMatchObject(deferred('sender_not_verified', { isOfOne: true }));
  });

  test.each<[string, object, object]>([
    [
      'a receiver',
      { failures: ['ada@example.test: 550 5.1.1 user unknown'] },
      bounced('550 5.1.1'),
    ],
    [
      'a receiver that has closed the account',
      { failures: ['ada@example.test: 550 5.2.1 account is disabled'] },
      bounced('550 5.2.1'),
    ],
    [
      'the provider',
      {
        error_code: `${CODE}.NON_VALIDATING_IN_PAYLOAD`,
        field_validation_errors: {
          fieldname: 'to',
          message: 'to was expecting a valid RFC-822 formatted email field',
        },
      },
      bounced('5.1.3'),
    ],
    ['policy', { failures: ['550 5.7.1 blocked: user unknown'] }, rejected('blocked_by_policy')],
    ['a full mailbox', { failures: ['552 5.2.2 quota exceeded'] }, bounced('552 5.2.2', 'soft')],
    [
      'a full mailbox, in words',
      { failures: ['552 Mailbox quota exceeded'] },
      bounced('552', 'soft'),
    ],
    ['an account in words', { failures: ['550 User account is disabled'] }, bounced('550')],
    ['a domain', { failures: ['550 Domain not found'] }, bounced('550')],
    [
      'the relay, of the sender',
      { failures: ['550 your account is suspended'] },
      deferred('account_blocked', { isOfOne: true }),
    ],
    ['the size', { failures: ['552 5.3.4 too big'] }, rejected('message_refused')],
    ['no relaying', { failures: ['550 5.1.1 relaying denied'] }, deferred('permission_denied')],
    ['no receiver', { failures: ['user unknown'] }, rejected('recipient_refused')],
  ])('hears a hard bounce where there is one: from %s', (_whom, told, outcome) => {
    const data = { succeeded: 0, failed: 1, ...told };
    expect(classify(answer(200, { data }), PARTIES)).toMatchObject(outcome);
    expect(classify(answer(400, { data }), PARTIES)).toMatchObject(outcome);
  });

  test.each<[string, object]>([
    ['a version', { error: 'Unsupported client 5.1.1' }],
    ['a code of its own', { error_code: `${CODE}.5.1.1`, error: 'Bad request' }],
    ['a field', { field_validation_errors: { fieldname: 'sender', message: '550 5.1.1 unknown' } }],
  ])('hears no hard bounce where no receiver speaks: in %s', (_where, told) => {
    for (const json of [told, { data: told }])
      for (const status of [200, 400])
        expect(classify(answer(status, json), PARTIES)).not.toHaveProperty('bounce');
  });

  test.each<[number, object]>([
    [500, { kind: 'unknown' }],
    [502, { kind: 'unknown' }],
    [503, deferred('provider_unavailable')],
    [429, deferred('throttled')],
    [401, deferred('invalid_key')],
    [422, { kind: 'rejected' }],
  ])('nor in an answer of %i, whatever it holds', (status, outcome) => {
    const fields = { fieldname: 'to', message: 'to was expecting a valid email address' };
    for (const told of [
      { failures: ['550 5.1.1 user unknown'] },
      { field_validation_errors: fields },
    ]) {
      const classified = classify(answer(status, { data: told }), PARTIES);
      expect(classified).toMatchObject(outcome);
      expect(classified).not.toHaveProperty('bounce');
    }
  });

  test('a quota is used up also where a number beside it looks like a full mailbox', () => {
    const error = 'Daily message quota exceeded (relay 5.2.2)';
    expect(classify(answer(400, { data: { error } }), PARTIES)).toMatchObject(
      deferred('quota_exhausted'),
    );
  });

  test('takes an answer without counts, as one that was accepted at once has', () => {
    expect(classify(answer(200, { data: { email_id: '1x' } }), PARTIES)).toMatchObject({
      kind: 'accepted',
      providerMessageId: '1x',
    });
  });

  test('whatever a body holds, it answers', () => {
    for (const json of [null, 1, '', [], [[]], { data: null }, { data: [] }, { data: 1 }])
      for (const status of [200, 400, 500]) {
        expect(classify(answer(status, json), PARTIES).kind).toBe(
          status === 400 ? 'rejected' : 'unknown',
        );
        expect(readPermissions(answer(status, json)).kind).toBe('failed');
      }
  });
});
