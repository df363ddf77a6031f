// The API's table of failures, row by row: each is produced by a real counterpart, and comes back as the
// same class with what to do about it from saving, from a test message and from the send log. (The last
// row, mail that goes to spam, is no answer of a provider: nobody tells.)
import { describe, expect, test } from 'vitest';
import { explanations, toFailure } from '../../src/providers/failures.ts';
import type { ExplainedFailure } from '../../src/providers/failures.ts';
import { ownApi } from '../support/own_api.ts';
import { cloudError } from '../support/cloud_sink.ts';
import { testDatabase } from '../support/database.ts';
import { NO_SUCH_KEY, relayError } from '../support/relay_sink.ts';
import { counterparts, fieldsOf, providersOf, sendOneOf } from './counterparts.ts';
import type { KINDS } from './counterparts.ts';

const database = testDatabase();
const sinks = counterparts(database);
const api = ownApi(database);
const { create, read, test: send } = providersOf(api);
const sendOne = sendOneOf(database, api);
const IN_REGION = 'The following identities failed the check in region EU-WEST-1';
const refusing = (status: number, name: string, text: string) => () =>
  sinks.cloud.play('/outbound-emails', cloudError(status, name, text));
const BLOCKED = { code: 554, text: '5.7.1 Client host blocked using a block list' };
const NO_STARTTLS = { code: 502, text: 'unknown command' };

type Row = {
  row: string;
  kind: (typeof KINDS)[number];
  reason: ExplainedFailure;
  /** Some words of the cause and of the fix, as the table has them. */
  says: [RegExp, RegExp];
  /** What the send log says: each of these is about the account, the sender or the relay, and the send waits. */
  status: 'queued';
  breakIt: () => unknown;
  /** Only found out by a message: saving sends none. */
  isSaved?: boolean;
};

const rows: Row[] = [
  {
    row: 'Connection refused or timeout',
    kind: 'smtp',
    reason: 'connection_failed',
    says: [
      /Wrong host or port, an egress firewall/,
      /Check host, port .* try port 2525 with STARTTLS/s,
    ],
    status: 'queued',
    breakIt: () => sinks.smtp.play('connect', 'drop'),
  },
  {
    row: 'Greeted with a refusal',
    kind: 'smtp',
    reason: 'connection_refused_by_policy',
    says: [
      /answered, and does not talk to this machine: .* on a block list/,
      /Ask whoever runs the relay to allow the address .* port for submission.* block lists/s,
    ],
    status: 'queued',
    breakIt: () => sinks.smtp.play('connect', BLOCKED),
  },
  {
    row: 'SMTP authentication failed',
    kind: 'smtp',
    reason: 'authentication_failed',
    says: [
      /rotated password, a user scoped to another domain, or an app-specific password/,
      /Create the credentials again .* update the record/s,
    ],
    status: 'queued',
    breakIt: () => sinks.smtp.play('auth', { code: 535 }),
  },
  {
    row: 'STARTTLS not advertised',
    kind: 'smtp',
    reason: 'starttls_not_offered',
    says: [/needs implicit TLS/, /smtp_secure to "ssl" and use port 465/],
    status: 'queued',
    breakIt: () => sinks.smtp.play('starttls', NO_STARTTLS),
  },
  {
    row: 'Sender not verified',
    kind: 'cloud_api',
    reason: 'sender_not_verified',
    says: [
      /not under a verified identity/,
      /Verify the domain .* confirm its region and its DKIM status/s,
    ],
    status: 'queued',
    breakIt: refusing(
      400,
      'MessageRejected',
      `Email address is not verified. ${IN_REGION}: acme.test`,
    ),
  },
  {
    row: 'Sender not verified, over SMTP',
    kind: 'smtp',
    reason: 'sender_not_verified',
    says: [
      /not under a verified identity/,
      /Verify the domain .* confirm its region and its DKIM status/s,
    ],
    status: 'queued',
    isSaved: true,
    breakIt: () =>
      sinks.smtp.play('end', {
        code: 554,
        text: 'Message rejected: Email address is not verified.',
      }),
  },
  {
    row: 'Invalid key: invalid_api_key',
    kind: 'relay_api',
    reason: 'invalid_key',
    says: [/deleted, rotated or deactivated/, /Mint a new send-scoped key and update the record/],
    status: 'queued',
    breakIt: () =>
      sinks.relay.play('', relayError(401, 'E_ApiResponseCodes.API_EXCEPTION', NO_SUCH_KEY)),
  },
  {
    row: 'Invalid key: invalid client token',
    kind: 'cloud_api',
    reason: 'invalid_key',
    says: [/deleted, rotated or deactivated/, /Mint a new send-scoped key and update the record/],
    status: 'queued',
    breakIt: refusing(403, 'InvalidClientTokenId', 'The token is invalid.'),
  },
  {
    row: 'Invalid key: signature mismatch',
    kind: 'cloud_api',
    reason: 'invalid_key',
    says: [/deleted, rotated or deactivated/, /Mint a new send-scoped key and update the record/],
    status: 'queued',
    breakIt: refusing(
      403,
      'SignatureDoesNotMatch',
      'The request signature we calculated does not match the signature you provided.',
    ),
  },
  {
    row: 'Region mismatch',
    kind: 'cloud_api',
    reason: 'region_mismatch',
    says: [/region differs .* domain is verified/, /Match region and host/],
    status: 'queued',
    breakIt: refusing(
      403,
      'InvalidSignatureException',
      'Credential should be scoped to a valid region.',
    ),
  },
  {
    row: 'Region mismatch, domain not found',
    kind: 'smtp',
    reason: 'region_mismatch',
    says: [/region differs .* domain is verified/, /Match region and host/],
    status: 'queued',
    isSaved: true,
    breakIt: () => sinks.smtp.play('mail', { code: 550, text: 'Domain acme.test not found' }),
  },
  {
    row: 'Throttling, maximum sending rate exceeded',
    kind: 'cloud_api',
    reason: 'throttled',
    says: [/over its quota per second/, /exponential backoff. Raise the quota/],
    status: 'queued',
    breakIt: refusing(429, 'TooManyRequestsException', 'Maximum sending rate exceeded.'),
  },
  {
    row: 'Throttling, over SMTP',
    kind: 'smtp',
    reason: 'throttled',
    says: [/over its quota per second/, /exponential backoff. Raise the quota/],
    status: 'queued',
    isSaved: true,
    breakIt: () =>
      sinks.smtp.play('end', {
        code: 454,
        text: 'Throttling failure: Maximum sending rate exceeded',
      }),
  },
];

describe.each(rows)('$row', ({ kind, reason, says, status, breakIt, isSaved = false }) => {
  const told = toFailure(reason);

  test(`${reason}: what it says is what the table says`, () => {
    const { cause, fix } = explanations[reason];
    expect(cause).toMatch(says[0]);
    expect(fix).toMatch(says[1]);
  });

  test(`${reason}: when it is saved`, async () => {
    breakIt();
    const { status: answered, body } = await create(fieldsOf(sinks, kind));
    if (isSaved) expect(answered).toBe(201);
    else expect(body).toMatchObject({ error: 'provider_preflight_failed', ...told });
  });

  test(`${reason}: from a test message`, async () => {
    const { id } = (await create(fieldsOf(sinks, kind))).body;
    breakIt();
    expect((await send(id)).body).toMatchObject({ error: 'provider_test_failed', ...told });
    expect((await read(id)).body.last_test.failure).toEqual(told);
  });

  test(`${reason}: in the send log`, async () => {
    const { id } = (await create(fieldsOf(sinks, kind))).body;
    breakIt();
    expect(await sendOne(id)).toMatchObject({
      status,
      status_reason: reason,
      status_fix: explanations[reason].fix,
    });
  });
});

describe.each([
  'connection_limit',
  'throttled',
  'quota_exhausted',
  'provider_unavailable',
] as const)('%s', (reason) => {
  test('is repeated for sends, and by hand where somebody saves or tests', () => {
    expect(explanations[reason].fix).toMatch(/Trunkline (?:repeats|goes on)/);
    expect(toFailure(reason).fix).not.toMatch(/repeats (?:sends|emails)|goes on/);
    expect(toFailure(reason).fix).toMatch(/try again yourself/);
  });
});

test('connection_failed names the setting that opens private networks', () => {
  for (const reason of ['connection_failed', 'tls_required'] as const)
    expect(toFailure(reason).fix).toContain('EGRESS_ALLOW_NETWORKS');
});
