// How hard a bounce is that a relay posts to the generic webhook: by its word, its reason and its
// codes.
import { describe, expect, test } from 'vitest';
import { smtp } from '../../src/feedback/dialects/smtp/smtp.ts';

const meaning = (event: object): string => {
  const raw = Buffer.from(JSON.stringify({ recipient: 'ann@example.com', ...event }));
  const { notices } = smtp.read({ raw, contentType: 'application/json', receivedAt: new Date() });
  return `${notices[0]?.kind}/${notices[0]?.bounceType}`;
};

describe('how hard a bounce is', () => {
  test.each([
    [{ bounce_type: 'hard' }, 'hard'],
    [{ bounce_type: 'HARD' }, 'hard'],
    [{ bounce_type: 'soft' }, 'soft'],
    [{ bounce_type: 'block' }, 'block'],
    [{ severity: 'permanent' }, 'hard'],
    [{ severity: 'temporary' }, 'soft'],
    [{ bounce_type: 'soft', enhanced_code: '5.1.1' }, 'soft'],
    [{ bounce_type: 'who knows' }, 'soft'],
    [{}, 'soft'],
    [{ enhanced_code: '5.1.1' }, 'hard'],
    [{ status: '5.1.2' }, 'hard'],
    [{ enhanced_code: '5.1.3' }, 'hard'],
    [{ enhanced_code: '5.1.6' }, 'hard'],
    [{ enhanced_code: '5.1.10' }, 'hard'],
    [{ enhanced_code: '5.2.1' }, 'hard'],
    [{ enhanced_code: '5.1.7' }, 'block'],
    [{ enhanced_code: '5.1.11' }, 'soft'],
    [{ enhanced_code: '5.2.2' }, 'soft'],
    [{ enhanced_code: '5.7.1' }, 'block'],
    [{ enhanced_code: '4.2.2', code: 550 }, 'soft'],
    [{ code: 450 }, 'soft'],
  ])('a bounce with %j is %s', (told, expected) => {
    expect(meaning({ event: 'bounce', ...told })).toBe(`bounced/${expected}`);
  });

  test.each([
    [{ code: 550, reason: '550 5.1.1 <ann@example.com>: user unknown' }],
    [{ smtp_code: 550, response: 'No such user here' }],
    [{ code: 521 }],
    [{ code: 556 }],
  ])('a bounce with %j alone says that the mailbox is gone', (told) => {
    expect(meaning({ event: 'bounce', ...told })).toBe('bounced/hard');
  });

  test.each([
    [{ bounce_type: 'HardBounce' }, 'hard'],
    [{ bounce_type: 'hard_bounce' }, 'hard'],
    [{ bounce_type: 'Hard Bounce' }, 'hard'],
    [{ bounce_type: 'HardFail' }, 'hard'],
    [{ bounce_type: 'Permanent' }, 'hard'],
    [{ type: 'HardBounce' }, 'hard'],
    [{ bounce_type: 'SoftBounce', code: '550 5.1.1' }, 'soft'],
    [{ bounce_type: 'Transient' }, 'soft'],
    [{ type: 'blocked' }, 'block'],
    [{ severity: 'error', code: '550 5.1.1' }, 'hard'],
    [{ severity: 'error' }, 'soft'],
  ])('a bounce that the relay calls %j is %s', (told, expected) => {
    expect(meaning({ event: 'bounce', ...told })).toBe(`bounced/${expected}`);
  });

  test.each([
    [{ reason: '550 5.1.1 user unknown' }, 'hard'],
    [{ code: '550 5.1.1' }, 'hard'],
    [{ status: 550, response: 'user unknown' }, 'hard'],
    [{ code: 0, diagnostic: 'smtp; 550 No such user here' }, 'hard'],
    [{ description: 'mx.example.com said: 550-5.1.1 The account does not exist' }, 'hard'],
    [{ reason: 'bounced', response: '550 5.1.1 <ann@example.com>: user unknown' }, 'hard'],
    [{ reason: '(#5.1.1)' }, 'hard'],
    [{ reason: '550 5.7.1 user unknown' }, 'hard'],
    [{ reason: '550 5.7.1 blocked for its reputation' }, 'block'],
    [{ reason: '550 mailbox unavailable' }, 'soft'],
    [{ reason: '550 5.1.8 domain of sender does not exist' }, 'block'],
    [{ reason: '552 5.2.2 mailbox full' }, 'soft'],
    [{ reason: '450 4.2.1 try 5.1.1 again' }, 'soft'],
    [{ reason: 'refused by 5.1.1.4' }, 'soft'],
    [{ reason: 'refused by 192.5.1.1' }, 'soft'],
    [{ reason: 'user unknown' }, 'hard'],
    [{ reason: 'tried 521 times' }, 'soft'],
    [{ reason: { text: '550 5.1.1' } }, 'soft'],
  ])('a bounce with the codes in %j is %s', (told, expected) => {
    expect(meaning({ event: 'bounce', ...told })).toBe(`bounced/${expected}`);
  });

  test.each([
    [{ event: 'hard_bounce', enhanced_code: '5.7.1' }, 'block'],
    [{ event: 'bounce', bounce_type: 'hard', reason: '554 spam content' }, 'block'],
    [{ event: 'bounce', bounce_type: 'hard', reason: '552 5.2.2 over quota' }, 'soft'],
    [{ event: 'soft_bounce', reason: '550 5.7.26 DMARC policy' }, 'block'],
    [{ event: 'soft_bounce', reason: '550 5.1.1 user unknown' }, 'soft'],
  ])(
    'another cause makes a bounce less hard than the relay says, never harder: %j',
    (told, type) => {
      expect(meaning(told)).toBe(`bounced/${type}`);
    },
  );

  test('a name that says hard counts unless the relay says otherwise', () => {
    expect(meaning({ event: 'hard_bounce' })).toBe('bounced/hard');
    expect(meaning({ event: 'hard_bounce', reason: 'mailbox unavailable' })).toBe('bounced/hard');
    expect(meaning({ event: 'permanent_fail', severity: 'temporary' })).toBe('bounced/soft');
    expect(meaning({ event: 'hard_bounce', bounce_type: 'block' })).toBe('bounced/block');
    expect(meaning({ event: 'hard_bounce', severity: 'error' })).toBe('bounced/hard');
    expect(meaning({ event: 'permanent_fail', bounce_type: 'General' })).toBe('bounced/hard');
  });
});
