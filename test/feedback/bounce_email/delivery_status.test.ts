// Delivery status notifications (RFC 3464) and feedback reports (RFC 5965), field by field.
import { describe, expect, test } from 'vitest';
import { readBounceEmail } from '../../../src/feedback/bounce_email/bounce_email.ts';
import type { Report } from '../../../src/feedback/bounce_email/bounce_email.ts';
import { judgeReport } from '../../../src/feedback/bounce_email/judge.ts';
import { arf, dsn } from '../mailboxes/reports.ts';
import type { ArfGiven, DsnGiven } from '../mailboxes/reports.ts';

const TO = 'ann@example.net';

const reportOf = async (raw: string): Promise<Report> => {
  const email = await readBounceEmail(Buffer.from(raw));
  if (email.kind !== 'report') throw new Error(`${email.kind}, not a report`);
  return email.report;
};

const says = async (given: DsnGiven, to = TO): Promise<string> => {
  const judged = judgeReport(await reportOf(dsn(given)), to);
  return judged ? [judged.kind, judged.bounceType].filter(Boolean).join(' ') : 'nothing';
};

describe('what happened', () => {
  test.each([
    [{ action: 'failed' }, 'bounced hard'],
    [{ action: 'Failed (no such user)' }, 'bounced hard'],
    [{ action: 'delayed', status: '4.4.1', diagnostic: null }, 'deferred soft'],
    [{ action: 'delivered', status: '2.0.0', diagnostic: null }, 'delivered'],
    [{ action: 'relayed', status: '2.0.0', diagnostic: null }, 'accepted'],
    [{ action: 'expanded', status: '2.0.0', diagnostic: null }, 'accepted'],
    [{ action: 'something', status: '5.1.1' }, 'bounced hard'],
    [{ action: '', status: '4.2.2', diagnostic: null }, 'deferred soft'],
  ] as const)('%j says: %s', async (given, expected) => {
    expect(await says(given)).toBe(expected);
  });

  test('without an action and a status the words for people count', async () => {
    expect(await readBounceEmail(Buffer.from(dsn({ action: 'x', status: 'x' })))).toMatchObject({
      kind: 'report',
      report: { recipients: [{ kind: 'bounced' }] },
    });
  });
});

describe('how hard a failure is', () => {
  test.each([
    ['5.1.1', 'smtp; 550 5.1.1 User unknown', 'hard'],
    ['5.0.0', 'smtp; 550 5.1.1 User unknown', 'hard'],
    ['5.1.1', null, 'hard'],
    ['5.2.1', 'smtp; 550 5.2.1 Mailbox disabled', 'hard'],
    [
      '5.4.4',
      'X-Postfix; Host or domain name not found. Name service error: Host not found',
      'hard',
    ],
    ['4.1.1', 'smtp; 450 4.1.1 User unknown', 'soft'],
    ['5.2.2', 'smtp; 552 5.2.2 Mailbox full', 'soft'],
    ['4.4.1', 'X-Postfix; connect to mx.example.net: Connection timed out', 'soft'],
    ['5.4.7', 'smtp; 550 5.4.7 Delivery expired', 'soft'],
    ['5.7.1', 'smtp; 554 5.7.1 Client host blocked using zen.spamhaus.org', 'block'],
    ['5.7.26', 'smtp; 550 5.7.26 This email is unauthenticated: SPF did not pass', 'block'],
    ['5.1.8', 'smtp; 550 5.1.8 Sender address rejected: Domain not found', 'block'],
    ['5.3.4', 'smtp; 552 5.3.4 Message size exceeds fixed limit', 'block'],
    ['5.5.0', 'smtp; 550 Requested action not taken: mailbox unavailable', 'soft'],
    ['5.0.0', null, 'soft'],
  ])('status %s with %s is %s', async (status, diagnostic, type) => {
    expect(await says({ status, diagnostic })).toBe(`bounced ${type}`);
  });
});

describe('its recipient', () => {
  test.each([
    ['another case', { to: 'ANN@Example.NET' }, 'bounced hard'],
    ['brackets', { to: '<ann@example.net>' }, 'bounced hard'],
    ['an address that was passed on', { to: 'bob@example.org', original: TO }, 'bounced soft'],
    ['another address alone', { to: 'bob@example.org' }, 'bounced soft'],
    ['the original address alone', { to: 'x400; c=de', original: TO }, 'bounced hard'],
  ])('%s', async (_how, given, expected) => {
    expect(await says(given)).toBe(expected);
  });

  test('a delivery to another address says nothing', async () => {
    expect(await says({ action: 'delivered', status: '2.0.0', to: 'bob@example.org' })).toBe(
      'nothing',
    );
  });

  test('an address outside of ASCII is read in both of its forms (RFC 6533)', async () => {
    for (const to of ['utf-8; ann@b\\x{FC}cher.example', 'utf-8; ann@bücher.example']) {
      const raw = dsn().replace('rfc822; ann@example.net', to);
      const { recipients } = await reportOf(raw);
      expect(recipients[0]?.addresses).toEqual(['ann@xn--bcher-kva.example']);
    }
  });

  test('of several recipients the one of the email counts', async () => {
    const other = [
      '',
      'Final-Recipient: rfc822; bob@example.org',
      'Action: failed',
      'Status: 5.1.1',
    ];
    const raw = dsn({ action: 'delayed', status: '4.2.2', diagnostic: null }).replace(
      'Status: 4.2.2\r\n',
      ['Status: 4.2.2', ...other, ''].join('\r\n'),
    );
    const report = await reportOf(raw);
    expect(judgeReport(report, TO)).toMatchObject({ kind: 'deferred' });
    expect(judgeReport(report, 'bob@example.org')).toMatchObject({ bounceType: 'hard' });
  });
});

describe('which email it is about', () => {
  const ID = '<019a9f0c-6c00-7cc3-98c4-dc0c0c07398f.1@shop.test>';
  test('the returned header names it, folded or not', async () => {
    const headers = [
      'Return-Path: <bounces+abc@shop.test>',
      'Message-ID:',
      ` ${ID}`,
      'X-Trunkline-Send-Id: 019a9f0c-6c00-7cc3-98c4-dc0c0c07398f',
    ].join('\r\n');
    const report = await reportOf(dsn({ headers }));
    expect(report).toMatchObject({
      sendId: '019a9f0c-6c00-7cc3-98c4-dc0c0c07398f',
      messageIds: [ID],
    });
    expect(report.envelope).toContain('bounces+abc@shop.test');
  });

  test('without a returned email the references of the report name it', async () => {
    const raw = dsn().replace('MIME-Version', `In-Reply-To: ${ID}\r\nMIME-Version`);
    expect((await reportOf(raw)).messageIds).toEqual([ID]);
  });

  test('the recipient of the report is where the envelope sender may stand', async () => {
    for (const name of ['Delivered-To', 'X-Original-To', 'Envelope-To', 'X-Failed-To']) {
      const raw = dsn().replace('MIME-Version', `${name}: <b+token@shop.test>\r\nMIME-Version`);
      const isRead = (await reportOf(raw)).envelope.includes('b+token@shop.test');
      expect(isRead).toBe(name !== 'X-Failed-To');
    }
  });
});

describe('a feedback report', () => {
  test.each([
    ['abuse', 'complained complaint'],
    ['Abuse', 'complained complaint'],
    ['fraud', 'complained complaint'],
    ['virus', 'complained complaint'],
    ['other', 'complained complaint'],
    ['not-spam', 'not_spam'],
    ['opt-out', 'unsubscribed'],
    ['opt-out-list', 'unsubscribed'],
  ])('of type %s says: %s', async (type, expected) => {
    const judged = judgeReport(await reportOf(arf({ type })), TO);
    expect([judged?.kind, judged?.suppresses].filter(Boolean).join(' ')).toBe(expected);
  });

  test.each(['auth-failure', 'dmarc', '', 'constructor'])(
    'of type %j changes nothing',
    async (type) => {
      expect(await readBounceEmail(Buffer.from(arf({ type })))).toEqual({ kind: 'automatic' });
    },
  );

  test.each<[string, ArfGiven, readonly string[]]>([
    ['names the recipient', {}, [TO]],
    ['may hide the recipient', { to: null }, []],
    ['may hide it behind a word', { to: 'redacted' }, []],
  ])('%s', async (_how, given, addresses) => {
    expect((await reportOf(arf(given))).recipients[0]?.addresses).toEqual(addresses);
  });
});
