// What of a reply its owner may see.
import { describe, expect, test } from 'vitest';
import { sanitizeReply } from '../../../src/providers/answers/answers.ts';

const text = (reply: string, secrets: readonly string[] = []): string =>
  sanitizeReply({ reply, to: 'bob@example.net', secrets }).text;

describe('the shown reply', () => {
  test('has its codes apart from its text, on one line', () => {
    const reply = '550-5.1.1 The account does not exist.\r\n550 5.1.1 Try another.';
    expect(sanitizeReply({ reply })).toEqual({
      code: 550,
      enhanced: '5.1.1',
      text: 'The account does not exist. Try another.',
      queueId: null,
    });
  });

  test('shows the address of the recipient, as the server wrote it, and no other', () => {
    expect(text('550 <Bob@Example.net>: refused by eve@example.com')).toBe(
      '<Bob@Example.net>: refused by [address]',
    );
  });

  test('shows no address where the recipient is not given', () => {
    expect(sanitizeReply({ reply: '550 <bob@example.net>: unknown' }).text).toBe(
      '<[address]>: unknown',
    );
  });

  test('has no control characters, nor those that turn text around', () => {
    expect(text('550 a\u0000b\u001b[31mc\u202ed\u200be\u0085f')).toBe('a b [31mc d e f');
  });

  test('has no HTML', () => {
    const html =
      '<html><head><style>p{}</style><script>alert(1)</script></head><p>Bad <b>gateway</b><br>';
    expect(text(html)).toBe('Bad gateway');
    expect(text('550 <!-- hidden --> 1 < 2 and <mx.example.org> said')).toBe(
      '1 < 2 and <mx.example.org> said',
    );
  });

  test('is at most 500 characters long', () => {
    expect(text(`550 ${'a'.repeat(500)}`)).toHaveLength(500);
    expect(text(`550 ${'a'.repeat(501)}`)).toBe(`${'a'.repeat(499)}\u2026`);
  });

  test('says nothing of nothing', () => {
    expect(sanitizeReply({ reply: '' })).toEqual({
      code: null,
      enhanced: null,
      text: '',
      queueId: null,
    });
  });
});

describe('secrets', () => {
  const secret = 'p/a+s s"w\u00f6rd=1';

  test.each([
    ['as it is', secret],
    ['URL-encoded', encodeURIComponent(secret)],
    ['as JSON', JSON.stringify(secret)],
    ['in base64 with the user name', Buffer.from(`\u0000user\u0000${secret}`).toString('base64')],
  ])('a known one is removed, %s', (_, form) => {
    const shown = text(`535 wrong: ${form} sent`, [secret]);
    expect(shown).toContain('[removed]');
    expect(shown).toMatch(/^wrong: .{0,12} sent$/);
  });

  test.each([
    '500 AUTH PLAIN AHVzZXIAc2VjcmV0',
    '{"error":"bad header Authorization: Bearer abc.def-123456"}',
    '{"api_key":"SG.abcdefghijklmnop.qrstuvwxyz0123456789"}',
    '401 key-0123456789abcdef0123456789abcdef is not valid',
    '401 AKIAIOSFODNN7EXAMPLE unknown',
    '401 eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghij',
    'password=hunter22 refused',
  ])('one that looks like one is removed: %s', (reply) => {
    const shown = text(reply);
    expect(shown).toContain('[removed]');
    expect(shown).not.toMatch(/AHVz|123456|abcdefgh|AKIA|hunter/);
  });

  test('very short ones take no words out of the text', () => {
    expect(text('550 The user is unknown', ['the', 'us'])).toBe('The user is unknown');
  });
});

describe('the id of the relay', () => {
  test.each([
    ['Postfix', '250 2.0.0 Ok: queued as 4XyZ1a2b3cz9rxD', '4XyZ1a2b3cz9rxD'],
    ['Exim', '250 OK id=1rAbCd-000xyz-1A', '1rAbCd-000xyz-1A'],
    ['KumoMTA', '250 OK ids=d7ef132b5d7711eea8c8000c29c33806', 'd7ef132b5d7711eea8c8000c29c33806'],
    ['Amazon SES', '250 Ok 0102018b1c2d3e4f-1a2b3c4d-0000', '0102018b1c2d3e4f-1a2b3c4d-0000'],
    [
      'Gmail',
      '250 2.0.0 OK  1700000000 d2e1a72fcca58-76esm97b.328 - gsmtp',
      'd2e1a72fcca58-76esm97b.328',
    ],
    [
      'Exchange Online',
      '250 2.6.0 <a@b.example> [InternalId=123456789, Hostname=X.PROD.OUTLOOK.COM] 9 bytes Queued mail for delivery',
      '123456789',
    ],
    ['qmail', '250 ok 1700000000 qp 12345', '12345'],
    ['Sendmail', '250 2.0.0 3AKBcd12 Message accepted for delivery', '3AKBcd12'],
    ['OpenSMTPD', '250 2.0.0 a1b2c3d4 Message accepted for delivery', 'a1b2c3d4'],
    [
      'Haraka',
      '250 Message Queued (8FD0B6B9-4C66-4F3A-8C58-9E6A.1)',
      '8FD0B6B9-4C66-4F3A-8C58-9E6A.1',
    ],
    ['Stalwart', '250 2.0.0 Message queued with id 1a2b3c4d5e.', '1a2b3c4d5e'],
    ['Mimecast', '250 SmtpThread-12 Received OK [id1a2b.us123]', 'id1a2b.us123'],
    ['SparkPost', '250 2.0.0 OK 5F/3A-12345-ABCDEF', '5F/3A-12345-ABCDEF'],
    ['of several lines, the last', '250-Thanks\r\n250 2.0.0 Ok: queued as ABC123', 'ABC123'],
  ])('is read from an acceptance: %s', (_, reply, id) => {
    expect(sanitizeReply({ reply }).queueId).toBe(id);
  });

  test.each(['250 OK', '250 2.0.0 Ok', '250 Requested mail action okay, completed', '250'])(
    'is not made up: %s',
    (reply) => {
      expect(sanitizeReply({ reply }).queueId).toBeNull();
    },
  );

  test('is none of a refusal', () => {
    expect(sanitizeReply({ reply: '550 queued as ABC123' }).queueId).toBeNull();
    expect(sanitizeReply({ reply: 'queued as ABC123' }).queueId).toBeNull();
  });
});
