import { Resolver } from 'node:dns/promises';
import { describe, expect, test } from 'vitest';
import { connectSmtp, preflightSmtp } from '../../src/providers/smtp.ts';
import { classify, toOutcome } from '../../src/providers/smtp_errors.ts';
import { startRelay } from './relay.ts';

const LOCAL = {
  allowNetworks: ['127.0.0.0/8'],
  nameServers: new Resolver(),
  ehloName: null,
  answerTimeoutMs: 60_000,
};
const FROM = 'hello@acme.test';
const PARTIES = { from: FROM, to: 'ann@example.test', secrets: [] };
const IN_REGION =
  'Email address is not verified. The following identities failed the check in region';

const reply = (command: string, responseCode: number, text: string) =>
  Object.assign(new Error(text), {
    code: command === 'DATA' ? 'EMESSAGE' : 'EENVELOPE',
    command,
    responseCode,
    response: `${responseCode} ${text}`,
  });

describe('what a relay says in words', () => {
  test.each<[string, number, string, string]>([
    ['DATA', 554, `Message rejected: ${IN_REGION} EU-WEST-1: ${FROM}`, 'sender_not_verified'],
    ['DATA', 554, `Message rejected: ${IN_REGION} EU-WEST-1: acme.test`, 'sender_not_verified'],
    ['DATA', 554, `Message rejected: ${IN_REGION} EU-WEST-1: Ann <ann@acme.test>`, 'sandboxed'],
    [
      'DATA',
      554,
      'Access denied: User x is not authorized to perform ses:SendRawEmail',
      'permission_denied',
    ],
    ['DATA', 454, 'Throttling failure: Maximum sending rate exceeded', 'throttled'],
    ['DATA', 454, 'Throttling failure: Daily message quota exceeded', 'quota_exhausted'],
    ['RCPT TO', 451, 'Sender rate exceeds 40 messages per 1d', 'quota_exhausted'],
    ['RCPT TO', 451, 'Sender rate exceeds 40 messages per 5m', 'throttled'],
    ['RCPT TO', 550, 'Sender rate overlimit - 41.0 / 1h', 'quota_exhausted'],
    ['MAIL FROM', 550, '5.7.1 Domain mg.acme.test not found', 'region_mismatch'],
    ['MAIL FROM', 550, '5.7.1 not yours', 'sender_not_verified'],
    ['RCPT TO', 550, '5.1.8 Bad sender domain', 'sender_domain_problem'],
    ['DATA', 550, '5.7.26 Unauthenticated email is not accepted', 'reputation_refused'],
    ['RCPT TO', 550, '5.1.1 no such user', 'recipient_refused'],
    ['RCPT TO', 550, '5.7.1 relaying denied', 'permission_denied'],
    ['RCPT TO', 554, '5.7.0 blocked', 'reputation_refused'],
    ['RCPT TO', 550, 'relay not permitted', 'permission_denied'],
    ['RCPT TO', 450, '4.7.1 greylisted', 'recipient_deferred'],
    ['RCPT TO', 550, '5.2.1 the account is disabled', 'recipient_refused'],
    ['RCPT TO', 552, '5.2.2 mailbox quota exceeded', 'recipient_refused'],
    ['RCPT TO', 452, '4.2.2 quota exceeded', 'recipient_deferred'],
    ['RCPT TO', 550, '5.1.2 Domain shop.test not found', 'recipient_refused'],
    ['DATA', 550, '5.2.1 account has been disabled', 'recipient_refused'],
    ['MAIL FROM', 550, '5.2.1 account has been disabled', 'account_blocked'],
    ['RCPT TO', 552, 'Mailbox quota exceeded', 'recipient_refused'],
    ['RCPT TO', 454, 'Throttling failure: Daily message quota exceeded', 'quota_exhausted'],
    ['RCPT TO', 454, 'Throttling failure: Maximum sending rate exceeded', 'throttled'],
    ['RCPT TO', 450, 'recipient rate limit exceeded', 'recipient_deferred'],
    ['RCPT TO', 550, 'account is disabled', 'recipient_refused'],
    ['RCPT TO', 550, 'your account has been suspended', 'account_blocked'],
    ['RCPT TO', 550, 'sender not verified', 'sender_not_verified'],
    ['RCPT TO', 550, 'Domain acme.test not found', 'region_mismatch'],
    ['MAIL FROM', 550, 'account is disabled', 'account_blocked'],
    ['MAIL FROM', 452, 'quota exceeded', 'quota_exhausted'],
    ['MAIL FROM', 550, 'invalid_api_key', 'sender_not_verified'],
    ['DATA', 554, '5.7.1 the account of ada is suspended', 'account_blocked'],
    ['DATA', 554, '5.7.1 account suspended', 'account_blocked'],
    ['DATA', 554, 'Sending paused for this account.', 'account_blocked'],
    ['DATA', 554, 'Your account is suspended', 'account_blocked'],
    ['DATA', 552, 'message size limit exceeded', 'message_refused'],
    ['DATA', 550, 'Domain acme.test not found', 'region_mismatch'],
    ['DATA', 550, 'Domain mail.acme.test not found', 'region_mismatch'],
    ['DATA', 550, 'Domain shop.test not found', 'recipient_refused'],
    ['DATA', 550, 'invalid_api_key', 'provider_unavailable'],
    ['DATA', 552, '5.3.4 too big', 'message_refused'],
    ['DATA', 421, 'closing', 'provider_unavailable'],
    ['CONN', 554, '5.7.1 your address is blocked', 'connection_refused_by_policy'],
    ['CONN', 500, 'go away', 'connection_refused_by_policy'],
    ['CONN', 499, 'not now', 'provider_unavailable'],
    ['EHLO', 550, 'you are not welcome', 'connection_refused_by_policy'],
    ['HELO', 554, 'you are not welcome', 'connection_refused_by_policy'],
    ['EHLO', 501, '5.7.1 no mail from there', 'connection_refused_by_policy'],
    ['EHLO', 502, 'not known here', 'connection_failed'],
    ['HELO', 504, 'not known here', 'connection_failed'],
    ['EHLO', 505, 'not welcome here', 'connection_refused_by_policy'],
    ['EHLO', 421, 'shutting down', 'provider_unavailable'],
  ])('%s: %i %s is %s', (command, code, text, reason) => {
    expect(classify(reply(command, code, text), PARTIES)).toBe(reason);
  });

  test('of a banner cannot park the account: it came before the login', () => {
    const banner = Object.assign(reply('CONN', 554, 'not authorized to perform'), {
      code: 'EPROTOCOL',
    });
    expect(classify(banner, PARTIES)).toBe('connection_refused_by_policy');
  });

  test('to a message is an answer from 400 on: what is neither yes nor no is unknown', () => {
    const outcome = (code: number) => toOutcome(reply('DATA', code, 'go on'), 'body', PARTIES).kind;
    expect([354, 399].map(outcome)).toEqual(['unknown', 'unknown']);
    expect([400, 499, 500].map(outcome)).toEqual(['deferred', 'deferred', 'deferred']);
  });

  test('decides what waits for it', () => {
    const after = (command: string, code: number, text: string) =>
      toOutcome(reply(command, code, text), command === 'DATA' ? 'body' : 'before_body', PARTIES);
    expect(after('DATA', 554, 'not authorized to perform ses:SendRawEmail')).toMatchObject({
      waits: 'park',
      isOfOne: true,
    });
    expect(after('DATA', 554, `${IN_REGION} EU-WEST-1: ann@example.test`)).toMatchObject({
      reason: 'sandboxed',
      waits: 'hold',
    });
    expect(after('MAIL FROM', 550, '5.7.1 not yours')).not.toHaveProperty('isOfOne');
    expect(after('RCPT TO', 450, '4.7.1 greylisted')).toMatchObject({ waits: 'send' });
    const closed = after('RCPT TO', 421, '4.7.0 too many messages in this session');
    expect(closed).toMatchObject({ waits: 'connection', isOfOne: true });
    expect(after('DATA', 454, 'Daily message quota exceeded')).toMatchObject({
      reason: 'quota_exhausted',
      waits: 'hold',
    });
    expect(after('DATA', 454, 'Maximum sending rate exceeded')).toMatchObject({ waits: 'rate' });
    expect(after('MAIL FROM', 421, 'too many connections')).toMatchObject({ waits: 'connection' });
    expect(after('CONN', 554, '5.7.1 your address is blocked')).toMatchObject({
      waits: 'provider',
    });
  });
});

describe('a bounce that is said while the message is handed over', () => {
  test.each<[string, number, string, string]>([
    ['RCPT TO', 550, '5.1.1 <ann@acme.test>: user unknown', '550 5.1.1'],
    ['RCPT TO', 553, '5.1.2 no such domain', '553 5.1.2'],
    ['RCPT TO', 501, '5.1.3 bad syntax', '501 5.1.3'],
    ['RCPT TO', 551, '5.1.6 moved', '551 5.1.6'],
    ['RCPT TO', 556, '5.1.10 null MX', '556 5.1.10'],
    ['RCPT TO', 550, '5.2.1 the account is disabled', '550 5.2.1'],
    ['RCPT TO', 521, 'does not accept mail', '521'],
    ['RCPT TO', 550, 'No such user here', '550'],
    ['RCPT TO', 550, '5.4.1 Recipient address rejected: Access denied', '550 5.4.1'],
    ['DATA', 550, '5.1.1 user unknown', '550 5.1.1'],
    ['DATA', 554, 'bob: 550 5.2.1 closed', '554 5.2.1'],
    ['RCPT TO', 550, 'User account is disabled', '550'],
    ['RCPT TO', 550, 'mailbox unavailable', '550'],
  ])('%s: %i %s', (command, code, text, codes) => {
    const phase = command === 'DATA' ? 'body' : 'before_body';
    expect(toOutcome(reply(command, code, text), phase, PARTIES)).toMatchObject({
      kind: 'rejected',
      reason: 'recipient_refused',
      bounce: { type: 'hard', codes },
    });
  });

  test.each<[string, number, string]>([
    ['RCPT TO', 552, '5.2.2 mailbox full'],
    ['DATA', 552, '5.2.2 over quota'],
    ['RCPT TO', 552, 'Mailbox quota exceeded'],
    ['RCPT TO', 550, 'mailbox is full'],
  ])('%s: %i %s is a soft one', (command, code, text) => {
    const phase = command === 'DATA' ? 'body' : 'before_body';
    expect(toOutcome(reply(command, code, text), phase, PARTIES)).toMatchObject({
      kind: 'rejected',
      reason: 'recipient_refused',
      bounce: { type: 'soft', codes: expect.stringMatching(/^55[02]/) },
    });
  });

  test('a full mailbox with a 4xx is repeated: it may have room again', () => {
    const full = reply('RCPT TO', 452, '4.2.2 mailbox full');
    expect(toOutcome(full, 'before_body', PARTIES)).toMatchObject({
      kind: 'deferred',
      reason: 'recipient_deferred',
      waits: 'send',
    });
  });

  test.each<[string, number, string]>([
    ['RCPT TO', 550, 'scripted'],
    ['RCPT TO', 450, '5.1.1 user unknown'],
    ['RCPT TO', 450, '4.1.1 user unknown'],
    ['RCPT TO', 550, '5.7.1 user unknown, or you may not know'],
    ['RCPT TO', 550, '5.1.1 relaying denied'],
    ['RCPT TO', 550, 'Verification failed for <hello@acme.test>: 550 5.1.1 user unknown'],
    ['RCPT TO', 550, '5.1.8 sender domain does not exist'],
    ['RCPT TO', 452, '4.2.2 mailbox full'],
    ['RCPT TO', 552, '5.3.4 too big'],
    ['RCPT TO', 552, 'message too big'],
    ['RCPT TO', 452, 'Mailbox quota exceeded'],
    ['RCPT TO', 550, '5.1.0 rejected'],
    ['DATA', 554, '5.7.1 spam: no such user'],
    ['DATA', 552, '5.3.4 too big'],
    ['MAIL FROM', 550, '5.1.1 user unknown'],
    ['CONN', 521, 'does not accept mail'],
  ])('is not heard in %s: %i %s', (command, code, text) => {
    const phase = command === 'DATA' ? 'body' : 'before_body';
    expect(toOutcome(reply(command, code, text), phase, PARTIES)).not.toHaveProperty('bounce');
  });
});

describe('logging in', () => {
  test.each(['PLAIN', 'LOGIN'])('%s is spoken', async (method) => {
    const { settings } = await startRelay('user', 'pass', { authMethods: [method] });
    expect(await preflightSmtp(settings, LOCAL)).toEqual({ kind: 'passed' });
  });

  test('nothing else is: a relay that wants CRAM-MD5 is not answered', async () => {
    const relay = await startRelay('user', 'pass', { authMethods: ['CRAM-MD5'] });
    expect(await preflightSmtp(relay.settings, LOCAL)).toEqual({
      kind: 'failed',
      reason: 'auth_not_offered',
    });
    expect(relay.greetedAs()).toBeNull();
  });

  test('the installation introduces itself by its own name', async () => {
    const relay = await startRelay();
    const opened = await connectSmtp(relay.settings, { ...LOCAL, ehloName: 'mail.trunkline.test' });
    expect(opened.kind).toBe('connected');
    if (opened.kind === 'connected') opened.link.close();
    expect(relay.greetedAs()).toBe('mail.trunkline.test');
  });
});
