import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { mailgun } from '../../src/feedback/dialects/mailgun/mailgun.ts';
import { checkSignature } from '../../src/feedback/dialects/mailgun/mailgun_signature.ts';
import {
  inShort,
  MAILGUN_MESSAGE_ID,
  mailgunEvent,
  noticeAs,
  NOW,
  readAs,
  SEND_ID,
  signAs,
} from './told.ts';

const KEY = 'a-signing-key';
const body = (given: object = {}) => ({
  signature: signAs(KEY, { at: NOW }),
  'event-data': mailgunEvent(given),
});
const read = (given: object = {}) => noticeAs(mailgun, body(given));

/** A permanent failure with a reason and what the host said. */
const failed = (reason: string, status: object = {}, severity = 'permanent') => ({
  event: 'failed',
  severity,
  reason,
  'delivery-status': status,
});
const UNKNOWN_USER = { code: 550, message: '5.1.1 The email account does not exist' };
const HARD = 'bounced, hard, suppresses as hard_bounce';
const LISTED = 'bounced, hard, suppresses as provider_suppressed';

describe('what happened', () => {
  test.each([
    [
      'failed + permanent, reason bounce and 5.1.1',
      failed('bounce', { code: 550, 'enhanced-code': '5.1.1' }),
      HARD,
    ],
    [
      'failed + permanent, reason bounce and an unknown user in the text',
      failed('bounce', UNKNOWN_USER),
      HARD,
    ],
    ['failed + permanent, reason generic and 5.1.x', failed('generic', UNKNOWN_USER), HARD],
    [
      'failed + permanent, reason bounce, of which nothing more is known',
      failed('bounce', {}),
      HARD,
    ],
    [
      'failed + permanent, reason bounce, no such mailbox here',
      failed('bounce', { code: 550, message: 'No such mailbox here' }),
      HARD,
    ],
    [
      'failed + permanent, reason bounce, over quota',
      failed('bounce', { code: 552, message: 'mailbox full' }),
      'bounced, soft',
    ],
    [
      'failed + permanent, reason bounce, 5.2.2',
      failed('bounce', { code: 550, message: '5.2.2 over quota' }),
      'bounced, soft',
    ],
    ['failed + permanent, reason generic, of which nothing more is known', failed('generic'), HARD],
    [
      'failed + permanent, reason generic and a code that says nothing of the mailbox',
      failed('generic', { code: 554 }),
      'bounced, soft',
    ],
    [
      'failed + permanent, reason generic and a text alone',
      failed('generic', { message: 'try elsewhere' }),
      'bounced, soft',
    ],
    ['failed + permanent, suppress-bounce', failed('suppress-bounce', { code: 605 }), LISTED],
    ['failed + permanent, code 605', failed('generic', { code: 605 }), LISTED],
    [
      'failed + permanent, suppress-complaint',
      failed('suppress-complaint', { code: 607 }),
      'rejected, suppresses as complaint',
    ],
    [
      'failed + permanent, code 607',
      failed('other', { code: 607 }),
      'rejected, suppresses as complaint',
    ],
    ['failed + permanent, reason old', failed('old', UNKNOWN_USER), 'bounced, soft'],
    ['failed + permanent, reason espblock', failed('espblock', UNKNOWN_USER), 'bounced, block'],
    [
      'failed + permanent, policy 5.7.x',
      failed('bounce', { code: 550, message: '5.7.1 blocked' }),
      'bounced, block',
    ],
    ['failed + permanent, no MX (498)', failed('bounce', { code: 498 }), 'bounced, soft'],
    ['failed + permanent, reason greylisted', failed('greylisted', {}), 'bounced, soft'],
    ['failed + temporary', failed('generic', UNKNOWN_USER, 'temporary'), 'deferred, soft'],
    ['failed + temporary, reason old', failed('old', {}, 'temporary'), 'deferred, soft'],
    ['complained', { event: 'complained' }, 'complained, suppresses as complaint'],
    ['delivered', { event: 'delivered' }, 'delivered'],
    ['unsubscribed', { event: 'unsubscribed' }, 'unsubscribed'],
    ['accepted', { event: 'accepted' }, 'accepted'],
    ['opened', { event: 'opened' }, 'opened'],
    ['clicked', { event: 'clicked' }, 'clicked'],
    ['rejected', { event: 'rejected', reject: { reason: 'virus' } }, 'rejected'],
    ['a name that nobody knows', { event: 'list_member_uploaded' }, 'unknown'],
    ['__proto__', { event: '__proto__' }, 'unknown'],
  ])('%s is told as it is', async (_name, given, expected) => {
    expect(inShort(await read(given))).toBe(expected);
  });

  test.each([
    ['bounce', HARD],
    ['hardfail', HARD],
    ['generic', HARD],
    ['a reason that nobody knows', HARD],
    [undefined, HARD],
    [null, HARD],
    ['suppress-bounce', LISTED],
    ['suppress-complaint', 'rejected, suppresses as complaint'],
    ['espblock', 'bounced, block'],
    ['old', 'bounced, soft'],
    ['greylisted', 'bounced, soft'],
  ])('without a delivery-status the reason %s decides: %s', async (reason, expected) => {
    for (const status of [null, undefined, 'x', [], {}, { code: null, message: ' ' }]) {
      const given = { ...failed(''), reason, 'delivery-status': status };
      expect(inShort(await read(given))).toBe(expected);
      expect(inShort(await read({ ...given, severity: 'temporary' }))).toBe('deferred, soft');
    }
  });

  test.each([failed('suppress-unsubscribe'), failed('generic', { code: 606 })])(
    'a drop for an unsubscribe is two things: %j',
    async (given) => {
      const { notices } = await readAs(mailgun, body(given));
      expect(notices.map(inShort)).toEqual(['rejected', 'unsubscribed']);
      expect(new Set(notices.map(({ dedupeKey }) => dedupeKey)).size).toBe(2);
    },
  );

  test('a trial run is told as one', async () => {
    expect((await read({ flags: { 'is-test-mode': true } })).isTest).toBe(true);
    expect((await read({ flags: { 'is-test-mode': 'true' } })).isTest).toBe(false);
    expect((await read({ flags: null })).isTest).toBe(false);
  });
});

test('who is said in recipient, else in the header To', async () => {
  expect((await read({ recipient: 'Bob@Example.org' })).email).toBe('Bob@example.org');
  const toBob = { message: { headers: { to: 'Bob <bob@example.org>' } } };
  expect((await read({ event: 'rejected', recipient: undefined, ...toBob })).email).toBe(
    'bob@example.org',
  );
  const { notices, errors } = await readAs(mailgun, body({ recipient: undefined, message: null }));
  expect([notices.length, errors.length]).toEqual([0, 1]);
});

test('the message is known by its Message-ID without brackets, a variable, or a tag', async () => {
  expect((await read()).messageIds).toEqual([MAILGUN_MESSAGE_ID]);
  expect((await read({ 'user-variables': { send_id: SEND_ID } })).sendId).toBe(SEND_ID);
  expect((await read({ 'user-variables': [] })).sendId).toBeNull();
  expect((await read({ tags: ['welcome', SEND_ID] })).sendId).toBe(SEND_ID);
});

test('their time is in seconds with a fraction', async () => {
  expect((await read({ timestamp: 1_795_170_905.25 })).occurredAt.toISOString()).toBe(
    new Date(1_795_170_905_250).toISOString(),
  );
});

test('an id that comes again on another day is another event', async () => {
  const given = { id: 'same' };
  const [a, b, c] = [
    await read({ ...given, timestamp: 1_795_170_905 }),
    await read({ ...given, timestamp: 1_795_170_905 }),
    await read({ ...given, timestamp: 1_795_070_905 }),
  ];
  expect(a.dedupeKey).toBe(b.dedupeKey);
  expect(c.dedupeKey).not.toBe(a.dedupeKey);
});

describe('a signature', () => {
  const check = (signature: unknown, key = KEY) => checkSignature({ signature }, key);
  const signedAt = new Date(Math.floor(NOW.getTime() / 1_000) * 1_000);

  test('is proven by the key alone', () => {
    const signed = signAs(KEY, { at: NOW, token: 'token-1' });
    expect(check(signed)).toEqual({ postId: 'token-1', signedAt });
    expect(check(signed, 'another key')).toBe(null);
    for (const change of [{ token: 'token-2' }, { timestamp: `${Number(signed.timestamp) + 1}` }])
      expect(check({ ...signed, ...change })).toBe(null);
  });

  test('of the parent account counts as well', () => {
    const wrong = signAs('another key', { at: NOW });
    const given = { signature: wrong, 'parent-signature': signAs(KEY, { at: NOW }) };
    expect(checkSignature(given, KEY)).toMatchObject({ signedAt });
  });

  test('with a number as its time is as good', () => {
    const signed = signAs(KEY, { at: NOW });
    expect(check({ ...signed, timestamp: Number(signed.timestamp) })).toMatchObject({ signedAt });
  });

  test.each([
    null,
    undefined,
    'x',
    [],
    {},
    { timestamp: '1', token: '', signature: 'a'.repeat(64) },
    { timestamp: '1e9', token: 'a', signature: 'a'.repeat(64) },
    { timestamp: '1', token: 'a', signature: 'é'.repeat(64) },
    { timestamp: '1', token: ['a'], signature: 'a'.repeat(64) },
    { timestamp: '1', token: 'a', signature: 'a'.repeat(63) },
    { timestamp: '1'.repeat(13), token: 'a', signature: 'a'.repeat(64) },
    { timestamp: '1', token: 'a'.repeat(101), signature: 'a'.repeat(64) },
  ])('like %j is wrong', (signature) => {
    expect(check(signature)).toBe(null);
  });

  test('does not lend its members to one that has none', () => {
    const signed = signAs(KEY, { at: NOW });
    const inherited = JSON.parse(`{"__proto__":${JSON.stringify(signed)}}`) as unknown;
    expect(check(inherited)).toBe(null);
    const upper = createHmac('sha256', KEY).update('1a').digest('hex').toUpperCase();
    expect(check({ timestamp: '1', token: 'a', signature: upper })).toEqual({
      postId: 'a',
      signedAt: new Date(1_000),
    });
  });
});
