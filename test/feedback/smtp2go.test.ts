import { describe, expect, test } from 'vitest';
import { smtp2go } from '../../src/feedback/dialects/smtp2go/smtp2go.ts';
import { inShort, noticeAs, NOW, readAs, SEND_ID, smtp2goBody } from './told.ts';

const read = (given: object = {}) => noticeAs(smtp2go, smtp2goBody(given));
const FORM = 'application/x-www-form-urlencoded';

describe('what happened', () => {
  test.each([
    [
      'bounce with bounce=hard',
      { event: 'bounce', bounce: 'hard' },
      'bounced, hard, suppresses as hard_bounce',
    ],
    ['bounce with bounce=soft', { event: 'bounce', bounce: 'soft' }, 'bounced, soft'],
    ['spam', { event: 'spam' }, 'complained, suppresses as complaint'],
    ['spam_complaint', { event: 'spam_complaint' }, 'complained, suppresses as complaint'],
    ['unsubscribe', { event: 'unsubscribe' }, 'unsubscribed'],
    ['unsubscribed', { event: 'unsubscribed' }, 'unsubscribed'],
    ['resubscribe', { event: 'resubscribe' }, 'resubscribed'],
    ['reject', { event: 'reject' }, 'rejected'],
    ['delivered', { event: 'delivered' }, 'delivered'],
    ['processed', { event: 'processed' }, 'accepted'],
    ['open', { event: 'open' }, 'opened'],
    ['opened', { event: 'opened' }, 'opened'],
    ['click', { event: 'click' }, 'clicked'],
    ['clicked', { event: 'Clicked' }, 'clicked'],
    ['a name that nobody knows', { event: 'something_new' }, 'unknown'],
    ['constructor', { event: 'constructor' }, 'unknown'],
  ])('%s is told as it is', async (_name, given, expected) => {
    expect(inShort(await read(given))).toBe(expected);
  });

  test.each([
    ['550 5.1.1 user unknown', 'hard'],
    ['550 5.7.1 spam', 'block'],
    ['452 4.2.2 full', 'soft'],
    [undefined, 'soft'],
  ])(
    'a bounce that is not said to be hard or soft is what its reply says: %s',
    async (message, type) => {
      expect((await read({ event: 'bounce', bounce: undefined, message })).bounceType).toBe(type);
    },
  );
});

describe('to whom', () => {
  test('rcpt says it', async () => {
    expect((await read({ rcpt: 'Ann <Ann@Example.NET>' })).email).toBe('Ann@example.net');
  });

  test.each([
    ['an array', ['ann@example.net', 'bob@example.net']],
    ['a text with commas', 'ann@example.net, bob@example.net'],
    ['a text with semicolons', 'ann@example.net;bob@example.net;ann@example.net'],
  ])('what was processed lists recipients as %s', async (_how, recipients) => {
    const body = smtp2goBody({ event: 'processed', rcpt: undefined, recipients });
    const { notices } = await readAs(smtp2go, body);
    expect(notices.map(({ email }) => email)).toEqual(['ann@example.net', 'bob@example.net']);
    expect(new Set(notices.map(({ dedupeKey }) => dedupeKey)).size).toBe(2);
  });

  test('without a recipient there is no notice, and it is said why', async () => {
    const { notices, errors } = await readAs(smtp2go, smtp2goBody({ rcpt: undefined }));
    expect([notices.length, errors.length]).toEqual([0, 1]);
  });
});

test('the message is known by their id, by the Message-ID under any spelling, and by our header', async () => {
  const notice = await read({ 'message-id': '<a@b>', 'x-trunkline-send-id': SEND_ID });
  expect(notice).toMatchObject({
    messageIds: ['1x2y3z-FnQW0aaaaaa-AB12', '<a@b>'],
    sendId: SEND_ID,
  });
  expect((await read({ 'Message-Id': '<c@d>' })).messageIds).toContain('<c@d>');
  expect((await read({ 'X-Trunkline-Send-Id': SEND_ID })).sendId).toBe(SEND_ID);
  expect((await read({ 'X-Trunkline-Send-Id': 'another' })).sendId).toBeNull();
});

test('it happened when they say, and never in the future', async () => {
  expect((await read()).occurredAt.toISOString()).toBe('2026-11-20T10:15:02.000Z');
  expect((await read({ time: '2027-01-01T00:00:00Z' })).occurredAt).toEqual(NOW);
  expect((await read({ time: 'soon' })).occurredAt).toEqual(NOW);
});

test('each event has a key of its own, and the same one the same', async () => {
  const keyOf = async (given: object) => (await read({ id: 'one', ...given })).dedupeKey;
  const keys = [
    await keyOf({}),
    await keyOf({ id: 'two' }),
    await keyOf({ event: 'bounce' }),
    await keyOf({ rcpt: 'bob@example.net' }),
    await keyOf({ id: undefined }),
    await keyOf({ id: undefined, time: '2026-11-20T10:15:03Z' }),
    await keyOf({ id: undefined, email_id: 'other' }),
  ];
  expect(new Set(keys).size).toBe(keys.length);
  expect(await keyOf({ id: undefined })).toBe(keys[4]);
});

describe('a body', () => {
  const fields = {
    ...smtp2goBody({ id: 'one' }),
    message: '550 5.1.1 <ann@example.net>: unknown & gone',
  };
  const bounce = { ...fields, event: 'bounce', bounce: 'hard' };

  test('is the same notice as JSON, as a form, and as multipart', async () => {
    const form = new URLSearchParams(bounce).toString();
    const multipart = new FormData();
    for (const [name, value] of Object.entries(bounce)) multipart.set(name, value);
    const response = new Response(multipart);
    const type = response.headers.get('content-type') ?? '';
    const expected = await noticeAs(smtp2go, bounce);
    expect(expected).toMatchObject({ kind: 'bounced', bounceType: 'hard' });
    expect(await noticeAs(smtp2go, form, FORM)).toEqual(expected);
    expect(await noticeAs(smtp2go, form, `${FORM}; charset=utf-8`)).toEqual(expected);
    expect(await noticeAs(smtp2go, await response.text(), type)).toEqual(expected);
  });

  test.each([
    [
      'cut in the middle',
      '--x\r\nContent-Disposition: form-data; name="event"\r\n\r\nboun',
      'boundary=x',
    ],
    ['with another boundary', '--y\r\n\r\n--y--', 'boundary=x'],
    ['without a boundary', '--x--', ''],
    ['empty', '', 'boundary=x'],
  ])('as multipart that is %s is refused', async (_how, body, parameter) => {
    await expect(async () => {
      const type = `multipart/form-data; ${parameter}`;
      const { notices } = await readAs(smtp2go, body, type);
      if (notices.length === 0) throw new Error('no notices');
    }).rejects.toThrow();
  });

  test('as a form that is cut says what it still says', async () => {
    const { notices } = await readAs(
      smtp2go,
      'event=bounce&bounce=hard&rcpt=ann%40example.net&mess=%',
      FORM,
    );
    expect(notices).toMatchObject([{ kind: 'bounced', email: 'ann@example.net' }]);
  });

  test('of members that every object has says nothing', async () => {
    for (const body of ['__proto__=1&constructor=2', '', '&&&', 'event', '%'])
      expect((await readAs(smtp2go, body, FORM)).notices).toEqual([]);
  });
});
