import { describe, expect, test } from 'vitest';
import {
  IDENTICAL_BOUNCES_MAX,
  IDENTICAL_REFUSALS_MAX,
  makesSuspectWords,
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
const OF_SERVER = { isUnconfirmed: false, isOfPage: false, showsAsserted: false };
const judgeWith =
  (more: Partial<typeof OF_SERVER>) =>
  (streak: RefusalStreak, outcome: SendOutcome, recipient: string) =>
    streak.judge(outcome, { recipient, ...OF_SERVER, ...more });
const judge = judgeWith({});
const judgeUnconfirmed = judgeWith({ isUnconfirmed: true, isOfPage: true });
/** Of an address that a server confirmed. */
const judgeOfPage = judgeWith({ isOfPage: true });
const judgeAsserted = judgeWith({ showsAsserted: true });
const people = (count: number) => Array.from({ length: count }, (_, at) => `person ${at}`);

describe('identical refusals', () => {
  test.each([
    ['any', IDENTICAL_REFUSALS_MAX, refused],
    ['that the mailbox does not exist', IDENTICAL_BOUNCES_MAX, unknownUser],
  ])('%s: the bound ends, one more holds the provider', (_, max, refuse) => {
    const streak = new RefusalStreak();
    for (const one of people(max)) expect(judge(streak, refuse(), one).kind).toBe('rejected');
    expect(judge(streak, refuse(), 'one more')).toMatchObject({
      kind: 'deferred',
      reason: 'identical_refusals',
      waits: 'hold',
      reply: refuse().kind === 'rejected' ? { code: 550 } : {},
    });
  });

  test('attack: a refusal of an email that shows words of a page ends nothing and counts for nothing', () => {
    const streak = new RefusalStreak();
    const again = { kind: 'deferred', reason: 'asserted_refused', waits: 'send' };
    for (const one of people(2 * IDENTICAL_REFUSALS_MAX))
      expect(judgeAsserted(streak, refused(), one)).toMatchObject({
        ...again,
        reply: { code: 550 },
      });
    expect([streak.count, streak.refusals]).toEqual([0, null]);
    for (const one of people(IDENTICAL_REFUSALS_MAX))
      expect(judge(streak, refused(), one).kind).toBe('rejected');
  });

  test.each([
    ['waits for the provider', 'provider_unavailable', 'provider'],
    ['closes the connection', 'connection_limit', 'connection'],
    ['is about the rate', 'throttled', 'rate'],
    ['is about the account for a time', 'quota_exhausted', 'hold'],
    ['is about the account', 'account_blocked', 'park'],
  ] as const)(
    'attack: an answer to words of a page that %s makes email of servers go without them',
    (_what, reason, waits) => {
      const streak = new RefusalStreak();
      const answer = { kind: 'deferred', reason, waits, isOfOne: true } as const;
      const ofText = { ...answer, isOfText: true } as const;
      const judged = { showsAsserted: true, isOfPage: false };
      for (const one of people(3)) {
        const outcome = judgeAsserted(streak, ofText, one);
        expect(outcome).toEqual({ kind: 'deferred', reason: 'asserted_refused', waits: 'send' });
        expect(makesSuspectWords(outcome, judged)).toBe(true);
      }
      expect(streak.refusals).toBe(null);
      // Before its text an email shows no words.
      const before = judgeAsserted(streak, answer, 'before the text');
      expect([before.kind, makesSuspectWords(before, judged)]).toEqual(['deferred', false]);
      expect(before).toMatchObject({ reason });
      expect(judge(streak, ofText, 'without words')).toMatchObject({ reason });
    },
  );

  test('a silence after words of a page is suspicious in email of servers alone', () => {
    const of = (showsAsserted: boolean, isOfPage: boolean) =>
      makesSuspectWords({ kind: 'unknown' }, { showsAsserted, isOfPage });
    expect([of(true, false), of(false, false), of(true, true)]).toEqual([true, false, false]);
    const taken = { showsAsserted: true, isOfPage: false };
    expect(makesSuspectWords(accepted, taken)).toBe(false);
  });

  test('attack: that name the mailbox after the text concern words of a page first', () => {
    const streak = new RefusalStreak();
    const afterText = { ...unknownUser(), isOfText: true } as SendOutcome;
    expect(judgeAsserted(streak, afterText, 'ann')).toMatchObject({
      kind: 'deferred',
      reason: 'asserted_refused',
    });
    expect(judge(streak, afterText, 'ann')).toEqual(afterText);
  });

  test('that concern the recipient end an email that shows words of a page, too', () => {
    const streak = new RefusalStreak();
    expect(judgeAsserted(streak, unknownUser(), 'ann').kind).toBe('rejected');
    const unwanted = { ...refused(), reason: 'recipient_refused' } as SendOutcome;
    expect(judgeAsserted(streak, unwanted, 'another').kind).toBe('rejected');
  });

  test('of one recipient count once', () => {
    const streak = new RefusalStreak();
    for (let times = 0; times <= IDENTICAL_REFUSALS_MAX; times += 1)
      expect(judge(streak, refused(), 'the same').kind).toBe('rejected');
  });

  test('an acceptance or another answer in between begins anew', () => {
    for (const between of [accepted, refused('something else')]) {
      const streak = new RefusalStreak();
      for (const one of people(IDENTICAL_REFUSALS_MAX)) judge(streak, refused(), one);
      judge(streak, between, 'another');
      expect(judge(streak, refused(), 'one more').kind).toBe('rejected');
    }
  });

  test('the ids and addresses in an answer make no difference', () => {
    const streak = new RefusalStreak();
    people(IDENTICAL_REFUSALS_MAX).forEach((one, at) =>
      judge(streak, refused(`refused <ann${at}@shop.test> (id 4bXq2R1mZ${at}z)`), one),
    );
    expect(judge(streak, refused('refused <bob@shop.test> (id 9cXq2R1mZ8z)'), 'x').kind).toBe(
      'deferred',
    );
  });

  test('are counted on by the next turn', () => {
    const [first, next] = [new RefusalStreak(), new RefusalStreak()];
    for (const one of people(IDENTICAL_REFUSALS_MAX)) judge(first, refused(), one);
    next.continue(first.refusals ?? { digest: '', count: 0 });
    expect(judge(next, refused(), 'one more').kind).toBe('deferred');
  });
});

describe('an answer about the account beside one recipient', () => {
  test('makes this send wait alone, and counts once a second recipient gets it', () => {
    const streak = new RefusalStreak();
    expect(judge(streak, suspended(), 'ann')).toMatchObject({ waits: 'send' });
    expect(judge(streak, suspended(), 'ann')).toMatchObject({ waits: 'send' });
    expect(judge(streak, suspended(), 'bob')).toMatchObject({ waits: 'park' });
  });

  test('of another kind, or after an acceptance, is a first one', () => {
    const streak = new RefusalStreak();
    judge(streak, suspended(), 'ann');
    expect(judge(streak, suspended('sender_not_verified'), 'bob')).toMatchObject({ waits: 'send' });
    judge(streak, accepted, 'carl');
    expect(judge(streak, suspended('sender_not_verified'), 'dora')).toMatchObject({
      waits: 'send',
    });
  });

  test('is remembered by the next turn, with its recipient', () => {
    const first = new RefusalStreak();
    judge(first, suspended(), 'ann');
    const told = first.refusals ?? { digest: '', count: 0 };
    for (const [recipient, waits] of [
      ['ann', 'send'],
      ['bob', 'park'],
    ] as const) {
      const next = new RefusalStreak();
      next.continue(told);
      expect(judge(next, suspended(), recipient)).toMatchObject({ waits });
    }
  });

  test('that was no answer about one recipient counts at once', () => {
    const { isOfOne: _, ...general } = suspended();
    expect(judge(new RefusalStreak(), general, 'ann')).toMatchObject({ waits: 'park' });
  });
});

describe('answers to email that a page chose', () => {
  test.each([
    [refused, IDENTICAL_REFUSALS_MAX],
    [unknownUser, IDENTICAL_BOUNCES_MAX],
  ])('identical refusals: %o: past %i sends wait, each alone', (refuse, max) => {
    for (const judgeIt of [judgeUnconfirmed, judgeOfPage]) {
      const streak = new RefusalStreak();
      for (const one of people(max)) expect(judgeIt(streak, refuse(), one)).toEqual(refuse());
      const waiting = { kind: 'deferred', reason: 'identical_refusals', waits: 'send' };
      expect(judgeIt(streak, refuse(), 'one more')).toMatchObject(waiting);
      expect(streak.refusals).toBeNull();
      expect(judge(streak, refuse(), 'ann').kind).toBe('rejected');
      expect(streak.count).toBe(1);
      judgeIt(streak, accepted, 'bob');
      expect(judgeIt(streak, refuse(), 'after an acceptance').kind).toBe('rejected');
    }
  });

  test('between identical refusals of other email they neither count nor begin anew', () => {
    const streak = new RefusalStreak();
    for (const one of people(IDENTICAL_REFUSALS_MAX)) {
      expect(judge(streak, refused(), one).kind).toBe('rejected');
      expect(judgeUnconfirmed(streak, refused(), `page ${one}`).kind).toBe('rejected');
      expect(judgeOfPage(streak, refused('other'), `page ${one}`).kind).toBe('rejected');
    }
    expect(judge(streak, refused(), 'one more')).toMatchObject({ kind: 'deferred', waits: 'hold' });
  });

  test('of a confirmed address: words about the account or its rate count, trouble of the relay does not', () => {
    const streak = new RefusalStreak();
    const account = { ...suspended(), reply: replyOf('account suspended') };
    judgeOfPage(streak, account, 'ann');
    expect(judgeOfPage(streak, account, 'bob')).toMatchObject({ waits: 'park' });
    const waits = (['rate', 'provider', 'connection'] as const).map((waits) => {
      const said = { kind: 'deferred', reason: 'throttled', waits, isOfOne: true } as const;
      return judgeOfPage(streak, { ...said, reply: replyOf('421 closing') }, 'ann');
    });
    expect(waits).toMatchObject([{ waits: 'rate' }, { waits: 'send' }, { waits: 'send' }]);
  });

  test('words about the account make the send wait alone, however many get them', () => {
    const streak = new RefusalStreak();
    for (const one of people(3))
      expect(judgeUnconfirmed(streak, suspended(), one)).toMatchObject({ waits: 'send' });
    expect(judge(streak, suspended(), 'ann')).toMatchObject({ waits: 'send' });
    expect(judgeUnconfirmed(streak, suspended(), 'page')).toMatchObject({ waits: 'send' });
    expect(judge(streak, suspended(), 'bob')).toMatchObject({ waits: 'park' });
  });

  test.each(['rate', 'provider', 'connection'] as const)(
    'said of one recipient, %s: the send waits alone, and of others it counts as ever',
    (waits) => {
      const slow = { kind: 'deferred', reason: 'throttled', waits, isOfOne: true } as const;
      expect(judgeUnconfirmed(new RefusalStreak(), slow, 'page')).toMatchObject({ waits: 'send' });
      expect(judge(new RefusalStreak(), slow, 'ann')).toMatchObject({ waits });
    },
  );

  test.each(['park', 'rate'] as const)('said of no recipient, %s: it counts as ever', (waits) => {
    const general = { kind: 'deferred', reason: 'throttled', waits } as const;
    const said = { ...general, reply: replyOf('go away') };
    expect(judgeUnconfirmed(new RefusalStreak(), said, 'page')).toMatchObject({ waits });
    expect(judge(new RefusalStreak(), general, 'ann')).toMatchObject({ waits });
  });

  test('a silence after the recipient was named makes the send wait alone', () => {
    const silence = { kind: 'deferred', reason: 'connection_failed', waits: 'provider' } as const;
    const judged = judgeUnconfirmed(new RefusalStreak(), silence, 'page');
    expect(judged).toMatchObject({ waits: 'send' });
  });
});
