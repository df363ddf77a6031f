import { describe, expect, test } from 'vitest';
import {
  IDENTICAL_BOUNCES_MAX,
  IDENTICAL_REFUSALS_MAX,
  RefusalStreak,
} from '../../src/delivery/refusal_streak.ts';
import type { SendOutcome } from '../../src/providers/providers.ts';

const replyOf = (text: string) => ({ code: 550, enhanced: null, text, queueId: null });
const refused = (text = 'not today'): SendOutcome => ({
  kind: 'rejected',
  reason: 'message_refused',
  reply: replyOf(text),
});
const unknownUser = (text = 'no such user'): SendOutcome => ({
  kind: 'rejected',
  reason: 'recipient_refused',
  bounce: { type: 'hard', codes: '550 5.1.1' },
  reply: replyOf(text),
});
const suspended = (reason: 'account_blocked' | 'sender_not_verified' = 'account_blocked') =>
  ({ kind: 'deferred', reason, waits: 'park', isOfOne: true }) as const;
const accepted: SendOutcome = { kind: 'accepted', providerMessageId: null };
const people = (count: number) => Array.from({ length: count }, (_, at) => `person ${at}`);

describe('identical refusals', () => {
  test.each([
    ['any', IDENTICAL_REFUSALS_MAX, refused],
    ['that the mailbox does not exist', IDENTICAL_BOUNCES_MAX, unknownUser],
  ])('%s: the bound ends, one more holds the provider', (_, max, refuse) => {
    const streak = new RefusalStreak();
    for (const one of people(max)) expect(streak.judge(refuse(), one).kind).toBe('rejected');
    expect(streak.judge(refuse(), 'one more')).toMatchObject({
      kind: 'deferred',
      reason: 'identical_refusals',
      waits: 'hold',
      reply: refuse().kind === 'rejected' ? { code: 550 } : {},
    });
  });

  test('of one recipient count once', () => {
    const streak = new RefusalStreak();
    for (let times = 0; times <= IDENTICAL_REFUSALS_MAX; times += 1)
      expect(streak.judge(refused(), 'the same').kind).toBe('rejected');
  });

  test('an acceptance or another answer in between begins anew', () => {
    for (const between of [accepted, refused('something else')]) {
      const streak = new RefusalStreak();
      for (const one of people(IDENTICAL_REFUSALS_MAX)) streak.judge(refused(), one);
      streak.judge(between, 'another');
      expect(streak.judge(refused(), 'one more').kind).toBe('rejected');
    }
  });

  test('the ids and addresses in an answer make no difference', () => {
    const streak = new RefusalStreak();
    people(IDENTICAL_REFUSALS_MAX).forEach((one, at) =>
      streak.judge(refused(`refused <ann${at}@shop.test> (id 4bXq2R1mZ${at}z)`), one),
    );
    expect(streak.judge(refused('refused <bob@shop.test> (id 9cXq2R1mZ8z)'), 'x').kind).toBe(
      'deferred',
    );
  });

  test('are counted on by the next turn', () => {
    const [first, next] = [new RefusalStreak(), new RefusalStreak()];
    for (const one of people(IDENTICAL_REFUSALS_MAX)) first.judge(refused(), one);
    next.continue(first.refusals ?? { digest: '', count: 0 });
    expect(next.judge(refused(), 'one more').kind).toBe('deferred');
  });
});

describe('an answer about the account beside one recipient', () => {
  test('makes this send wait alone, and counts once a second recipient gets it', () => {
    const streak = new RefusalStreak();
    expect(streak.judge(suspended(), 'ann')).toMatchObject({ waits: 'send' });
    expect(streak.judge(suspended(), 'ann')).toMatchObject({ waits: 'send' });
    expect(streak.judge(suspended(), 'bob')).toMatchObject({ waits: 'park' });
  });

  test('of another kind, or after an acceptance, is a first one', () => {
    const streak = new RefusalStreak();
    streak.judge(suspended(), 'ann');
    expect(streak.judge(suspended('sender_not_verified'), 'bob')).toMatchObject({ waits: 'send' });
    streak.judge(accepted, 'carl');
    expect(streak.judge(suspended('sender_not_verified'), 'dora')).toMatchObject({ waits: 'send' });
  });

  test('is remembered by the next turn, with its recipient', () => {
    const first = new RefusalStreak();
    first.judge(suspended(), 'ann');
    const told = first.refusals ?? { digest: '', count: 0 };
    for (const [recipient, waits] of [
      ['ann', 'send'],
      ['bob', 'park'],
    ] as const) {
      const next = new RefusalStreak();
      next.continue(told);
      expect(next.judge(suspended(), recipient)).toMatchObject({ waits });
    }
  });

  test('that was no answer about one recipient counts at once', () => {
    const { isOfOne: _, ...general } = suspended();
    expect(new RefusalStreak().judge(general, 'ann')).toMatchObject({ waits: 'park' });
  });
});
