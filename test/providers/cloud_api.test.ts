import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Resolver } from 'node:dns/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { cloudApi, SIMULATOR } from '../../src/providers/cloud_api.ts';
import { endpointOf, REGION } from '../../src/providers/cloud_region.ts';
import { HTTPS_TIMEOUTS } from '../../src/base/https.ts';
import type { Link, Network } from '../../src/providers/transport.ts';
import {
  ACCESS_KEY_ID,
  cloudError,
  cloudSink,
  MESSAGE_ID,
  readSent,
} from '../support/cloud_sink.ts';
import type { HttpAction } from '../support/https_sink.ts';
import { holdsOverHttps } from './over_https.ts';
import { toWire } from './wire.ts';

const sink = cloudSink();
const plain = cloudSink({ secure: false });
const strangers = cloudSink({ trusted: false });
beforeEach(() => sink.reset());

const SETTINGS = {
  provider: 'cloud_api',
  region: 'eu-west-1',
  access_key_id: ACCESS_KEY_ID,
  secret_access_key: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
} as const;
const SEND = '/v2/email/outbound-emails';
const IMPATIENT = { ...HTTPS_TIMEOUTS, headersMs: 100, answerMs: 200 };
const network = (given: Partial<Network> = {}): Network => ({
  allowNetworks: ['127.0.0.0/8'],
  relayApiUrl: 'https://relay.invalid',
  cloudApiUrl: sink.url,
  nameServers: new Resolver(),
  ehloName: null,
  answerTimeoutMs: 60_000,
  ...given,
});

const RAW = Buffer.from('From: hello@acme.test\r\nTo: ada@example.test\r\n\r\nHällo\r\n.\r\n');
const message = toWire('019a9f0c-6c00-7cc3-98c4-dc0c0c07398f', RAW);

const links: Link[] = [];
afterEach(() => {
  for (const link of links.splice(0)) link.close();
});
const open = async (given: Partial<Network> = {}): Promise<Link> => {
  const outcome = await cloudApi.connect(SETTINGS, network(given));
  if (outcome.kind === 'failed') throw new Error(JSON.stringify(outcome.outcome));
  links.push(outcome.link);
  return outcome.link;
};
const send = async (given: Partial<Network> = {}) => (await open(given)).send(message());
const preflight = (given: Partial<Network> = {}, settings = {}) =>
  cloudApi.preflight({ ...SETTINGS, ...settings }, network(given), 'hello@acme.test');
const failed = (reason: string) => ({ kind: 'failed', reason });
const deferred = (reason: string, more = {}) => ({ kind: 'deferred', reason, ...more });
const rejected = (reason: string) => ({ kind: 'rejected', reason });
const bounced = { ...rejected('recipient_refused'), bounce: { type: 'hard', codes: '5.1.3' } };

describe('a preflight', () => {
  test('passes once a real message from from_email to the simulator was taken', async () => {
    expect(await preflight()).toEqual({ kind: 'passed' });
    const [asked, ...more] = sink.requests;
    expect(more).toEqual([]);
    const sent = asked && readSent(asked);
    expect(sent).toMatchObject({
      FromEmailAddress: 'hello@acme.test',
      Destination: { ToAddresses: [SIMULATOR] },
    });
    expect(Buffer.from(sent?.Content.Raw.Data ?? '', 'base64').toString()).toContain(
      'From: hello@acme.test',
    );
  });

  test('invalid_key: nobody knows the key id', async () => {
    expect(await preflight({}, { access_key_id: 'AKIAWRONG' })).toEqual(failed('invalid_key'));
  });

  test('region_mismatch: the host of a region that does not exist is not found', async () => {
    expect(await preflight({ cloudApiUrl: 'https://email.xx-nowhere-1.invalid' })).toEqual(
      failed('region_mismatch'),
    );
  });

  test('certificate_invalid, connection_failed: nothing is asked', async () => {
    expect(await preflight({ cloudApiUrl: strangers.url })).toEqual(failed('certificate_invalid'));
    expect(await preflight({ cloudApiUrl: 'https://127.0.0.1:1' })).toEqual(
      failed('connection_failed'),
    );
    expect(await preflight({ allowNetworks: [] })).toEqual(failed('connection_failed'));
    expect([sink.requests, strangers.requests]).toEqual([[], []]);
  });

  test.each<[HttpAction]>([['drop'], ['hang'], ['truncate'], ['endless'], ['drip']])(
    'provider_unavailable: %j',
    async (action) => {
      sink.play(SEND, action);
      expect(await preflight({ httpsTimeouts: IMPATIENT })).toEqual(failed('provider_unavailable'));
    },
  );
});

describe('a message', () => {
  test('accepted: as it is, signed for its region, tagged with the id of the send', async () => {
    expect(await send()).toEqual({ kind: 'accepted', providerMessageId: MESSAGE_ID });
    const [asked, ...more] = sink.requests;
    expect(more).toEqual([]);
    expect(asked).toMatchObject({ method: 'POST', path: SEND });
    expect(asked?.headers.authorization).toMatch(
      new RegExp(`^AWS4-HMAC-SHA256 Credential=${ACCESS_KEY_ID}/\\d{8}/eu-west-1/ses/aws4_request`),
    );
    const sent = asked && readSent(asked);
    expect(sent).toMatchObject({
      Destination: { ToAddresses: ['ada@example.test'] },
      EmailTags: [{ Name: 'send_id', Value: '019a9f0c-6c00-7cc3-98c4-dc0c0c07398f' }],
    });
    expect(Buffer.from(sent?.Content.Raw.Data ?? '', 'base64')).toEqual(RAW);
  });

  holdsOverHttps(sink, open, message);

  test.each<[HttpAction]>([['drop'], ['hang'], ['truncate'], ['endless'], ['drip']])(
    'unknown: %j once it is written, and nothing is repeated',
    async (action) => {
      sink.play(SEND, action);
      const link = await open({ httpsTimeouts: IMPATIENT });
      expect(await link.send(message())).toEqual({ kind: 'unknown' });
      expect([link.isOpen, sink.requests.length]).toEqual([false, 1]);
    },
  );

  const UNVERIFIED =
    'Email address is not verified. The following identities failed the check in region EU-WEST-1: ';
  test.each<[number, string, string, object]>([
    [400, 'MessageRejected', `${UNVERIFIED}hello@acme.test`, deferred('sender_not_verified')],
    [400, 'MessageRejected', `${UNVERIFIED}acme.test`, deferred('sender_not_verified')],
    [400, 'MessageRejected', `${UNVERIFIED}ada@example.test`, deferred('sandboxed')],
    [400, 'MessageRejected', 'Bad content', rejected('message_refused')],
    [400, 'MailFromDomainNotVerifiedException', 'MX missing', deferred('sender_not_verified')],
    [400, 'BadRequestException', "Missing final '@domain'", bounced],
    [
      400,
      'BadRequestException',
      'Illegal address: hello@acme.test',
      deferred('sender_not_verified'),
    ],
    [400, 'BadRequestException', 'Duplicate header', rejected('message_refused')],
    [400, 'MessageRejected', "Missing final '@domain'", rejected('recipient_refused')],
    [404, 'NotFoundException', 'Configuration set <x> missing.', deferred('account_refused')],
    [400, 'AccountSuspendedException', 'no', deferred('account_blocked')],
    [400, 'SendingPausedException', 'no', deferred('account_blocked')],
    [429, 'TooManyRequestsException', 'Maximum sending rate exceeded.', deferred('throttled')],
    [400, 'Throttling', 'Rate exceeded', deferred('throttled')],
    [
      429,
      'TooManyRequestsException',
      'Daily message quota exceeded.',
      deferred('quota_exhausted', { waits: 'hold' }),
    ],
    [400, 'LimitExceededException', 'no', deferred('quota_exhausted')],
    [403, 'UnrecognizedClientException', 'no', deferred('invalid_key')],
    [403, 'SignatureDoesNotMatch', 'no', deferred('invalid_key')],
    [
      403,
      'InvalidSignatureException',
      'Credential should be scoped to a valid region.',
      deferred('region_mismatch', { waits: 'park' }),
    ],
    [403, 'InvalidSignatureException', 'Signature expired: x', deferred('provider_unavailable')],
    [
      403,
      'AccessDeniedException',
      'User x is not authorized to perform ses:SendRawEmail',
      deferred('permission_denied'),
    ],
    [500, 'InternalServiceErrorException', 'oops', deferred('provider_unavailable')],
    [500, 'NobodyKnowsException', 'oops', { kind: 'unknown' }],
    [418, 'NobodyKnowsException', 'oops', deferred('provider_unavailable')],
  ])('%i %s "%s"', async (status, name, text, outcome) => {
    sink.play(SEND, cloudError(status, name, text));
    expect(await send()).toMatchObject(outcome);
    expect(sink.requests).toHaveLength(1);
  });

  test.each<[HttpAction, object]>([
    [{ status: 502, text: '<h1>Bad gateway</h1>' }, { kind: 'unknown' }],
    [
      { status: 503, text: 'no', headers: { 'retry-after': '9' } },
      deferred('provider_unavailable', { retryAfterSeconds: 9 }),
    ],
    [{ status: 200, text: '<h1>Welcome</h1>' }, { kind: 'unknown' }],
    [{ status: 200, json: {} }, { kind: 'unknown' }],
    [
      { status: 302, headers: { location: 'https://127.0.0.1:1/' } },
      deferred('provider_unavailable'),
    ],
    [{ status: 403, text: 'no' }, deferred('permission_denied')],
  ])('%j', async (action, outcome) => {
    sink.play(SEND, action);
    expect(await send()).toMatchObject(outcome);
    expect(sink.requests).toHaveLength(1);
  });
});

describe('regions', () => {
  test('have their hosts', () => {
    expect(endpointOf('eu-west-1').href).toBe('https://email.eu-west-1.amazonaws.com/');
    expect(endpointOf('cn-north-1').host).toBe('email.cn-north-1.amazonaws.com.cn');
    expect(endpointOf('eusc-de-east-1').host).toBe('email.eusc-de-east-1.amazonaws.eu');
  });

  test('are no way to another host', () => {
    for (const region of ['us-east-1', 'ap-southeast-2', 'us-gov-west-1', 'eusc-de-east-1'])
      expect(region).toMatch(REGION);
    for (const region of [
      '',
      'eu',
      'a.b-c-1',
      'eu-west-1.evil',
      'eu-west-1/',
      'EU-WEST-1',
      'a@b-1',
    ])
      expect(region).not.toMatch(REGION);
  });
});

test('nothing of the environment, of files or of a metadata service is looked at', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'trunkline-cloud-'));
  const poison = join(folder, 'config');
  await writeFile(
    poison,
    '[default]\nregion = xx-poison-1\naws_access_key_id = POISON\naws_secret_access_key = POISON\n' +
      'endpoint_url = https://127.0.0.1:1\nuse_fips_endpoint = true\nmax_attempts = 9\n',
  );
  const module = new URL('../../src/providers/cloud_api.ts', import.meta.url).href;
  const code = `
    const { cloudApi } = await import(${JSON.stringify(module)});
    const network = ${JSON.stringify({ ...network(), cloudApiUrl: plain.url })};
    const outcome = await cloudApi.preflight(${JSON.stringify(SETTINGS)}, network, 'hello@acme.test');
    console.log(JSON.stringify(outcome));
  `;
  const env = {
    HOME: folder,
    AWS_CONFIG_FILE: poison,
    AWS_SHARED_CREDENTIALS_FILE: poison,
    AWS_PROFILE: 'nobody',
    AWS_REGION: 'xx-poison-1',
    AWS_ACCESS_KEY_ID: 'POISON',
    AWS_SECRET_ACCESS_KEY: 'POISON',
    AWS_ENDPOINT_URL: 'https://127.0.0.1:1',
    AWS_USE_FIPS_ENDPOINT: 'true',
    AWS_USE_DUALSTACK_ENDPOINT: 'true',
    AWS_MAX_ATTEMPTS: '9',
    AWS_RETRY_MODE: 'poison',
    AWS_DEFAULTS_MODE: 'poison',
    AWS_SDK_UA_APP_ID: 'poison',
  };
  plain.play(SEND, cloudError(500, 'InternalServiceErrorException', 'oops'), 1);
  const args = ['--input-type=module', '--eval', code];
  const run = () => promisify(execFile)(process.execPath, args, { env });
  expect(JSON.parse((await run()).stdout)).toEqual(failed('provider_unavailable'));
  expect(plain.requests).toHaveLength(1);
  expect(JSON.parse((await run()).stdout)).toEqual({ kind: 'passed' });
  expect(JSON.stringify(plain.requests.map(({ headers }) => headers))).not.toMatch(/poison/i);
  await rm(folder, { recursive: true });
});
