import { describe, expect, test } from 'vitest';
import { Refusal } from '../../src/base/refusal.ts';
import {
  EVENT_ID_CHARS_MAX,
  smtp as generic,
  GenericBody,
  NOTICES_MAX,
} from '../../src/feedback/dialects/smtp/smtp.ts';
import type { Notice } from '../../src/feedback/notice.ts';
import { REASON_CHARS_MAX } from '../../src/feedback/dialects/reading.ts';

const NOW = new Date('2026-11-20T12:00:00.000Z');
const SEND_ID = '0198a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b';
const good = { event: 'delivered', recipient: 'ann@example.com' };

const readText = (text: string) =>
  generic.read({ raw: Buffer.from(text), contentType: 'application/json', receivedAt: NOW });
const read = (body: unknown) => readText(JSON.stringify(body));
const notice = (event: object): Notice => {
  const { notices, errors } = read(event);
  if (!notices[0]) throw new Error(`no notice: ${JSON.stringify(errors)}`);
  return notices[0];
};
const meaning = (event: object) => {
  const { kind, bounceType } = notice({ ...good, ...event });
  return bounceType === null ? kind : `${kind}/${bounceType}`;
};

describe('what happened', () => {
  test.each([
    ['delivered', ['delivered', 'delivery', 'sent_ok']],
    ['bounced/hard', ['hard_bounce', 'hard_bounced', 'permanent_fail', 'invalid_email']],
    ['bounced/soft', ['bounce', 'bounced', 'soft_bounce', 'soft_bounced']],
    ['deferred/soft', ['temporary_fail', 'deferred', 'delivery_delayed', 'delay']],
    [
      'complained',
      ['complaint', 'complained', 'spam', 'spam_complaint', 'spam_report', 'spamreport', 'abuse'],
    ],
    ['unsubscribed', ['unsubscribe', 'unsubscribed']],
    ['rejected', ['reject', 'rejected', 'dropped', 'blocked']],
    ['opened', ['open', 'opened', 'opens']],
    ['clicked', ['click', 'clicked', 'clicks']],
    ['unknown', ['processed', '__proto__', 'constructor', 'toString', 'hard']],
  ])('%s', (expected, names) => {
    for (const event of names) expect([event, meaning({ event })]).toEqual([event, expected]);
  });

  test('is read in any case and spelling, with the prefixes that relays use', () => {
    for (const event of [
      'Hard_Bounce',
      'hard-bounce',
      'Hard Bounce',
      'hard.bounce',
      'email.hard_bounce',
      'message_hard_bounce',
      'Email Hard Bounce',
      ' hard_bounce ',
      'HardBounce',
      'hardbounce',
    ])
      expect([event, meaning({ event })]).toEqual([event, 'bounced/hard']);
    expect(meaning({ event: 'email_delivered' })).toBe('delivered');
  });

  test('may be called type', () => {
    expect(meaning({ event: undefined, type: 'complaint' })).toBe('complained');
  });
});

describe('to whom', () => {
  test.each(['recipient', 'email', 'rcpt', 'to'])('%s names the address', (name) => {
    expect(notice({ event: 'delivered', [name]: 'Ann@Example.com' }).email).toBe('Ann@example.com');
  });

  test('a name around the address is tolerated, two addresses are not', () => {
    const read = (recipient: string) => notice({ ...good, recipient }).email;
    expect(read('Ann Lee <ann@example.com>')).toBe('ann@example.com');
    expect(read('"Lee, Ann" <ann@example.com> ')).toBe('ann@example.com');
    expect(() => read('ann@example.com, bob@example.com')).toThrow();
  });

  test('an empty alias gives way to the next one', () => {
    expect(notice({ event: 'delivered', recipient: '', email: 'ann@example.com' }).email).toBe(
      'ann@example.com',
    );
  });
});

describe('when', () => {
  const time = (told: object) => notice({ ...good, ...told }).occurredAt.toISOString();

  test('in any of the ways that relays write it', () => {
    const expected = '2026-11-20T10:15:02.000Z';
    for (const value of [
      '2026-11-20T10:15:02Z',
      '2026-11-20T11:15:02+01:00',
      1_795_169_702,
      '1795169702',
      1_795_169_702_000,
    ])
      for (const name of ['occurred_at', 'timestamp', 'time'])
        expect([value, time({ [name]: value })]).toEqual([value, expected]);
  });

  test('is when we heard of it, if nobody says or nobody can read it', () => {
    for (const value of [undefined, null, 'yesterday', '', '  ', Number.MAX_VALUE, '1e400'])
      expect([value, time({ occurred_at: value })]).toEqual([value, NOW.toISOString()]);
  });

  test('is never in the future', () => {
    expect(time({ occurred_at: '2027-01-01T00:00:00Z' })).toBe(NOW.toISOString());
    expect(time({ occurred_at: NOW.toISOString() })).toBe(NOW.toISOString());
  });

  test('is never before the years that a database can keep', () => {
    for (const value of [
      -8_640_000_000_000,
      '-271821-04-20T00:00:00.000Z',
      '-005000-01-01T00:00:00Z',
    ])
      expect(new Date(time({ occurred_at: value })).getUTCFullYear()).toBeGreaterThanOrEqual(1);
  });
});

describe('about which message', () => {
  test('by our send id, at the top or in the metadata', () => {
    expect(notice({ ...good, send_id: SEND_ID }).sendId).toBe(SEND_ID);
    expect(notice({ ...good, metadata: { send_id: SEND_ID, other: [1] } }).sendId).toBe(SEND_ID);
    expect(notice({ ...good, send_id: 'snd_1' }).sendId).toBeNull();
  });

  test('by a message id, under either name', () => {
    expect(notice({ ...good, message_id: '<a@b>' }).messageIds).toEqual(['<a@b>']);
    expect(notice({ ...good, 'Message-ID': 'a@b' }).messageIds).toEqual(['a@b']);
  });
});

describe('why', () => {
  test.each(['reason', 'diagnostic', 'response', 'description'])('%s says it', (name) => {
    expect(notice({ ...good, [name]: 'full' }).reason).toBe('full');
  });

  test('is cut, however long, and never costs the notice', () => {
    for (const chars of [REASON_CHARS_MAX, REASON_CHARS_MAX + 1, 4_096, 4_097, 100_000])
      expect(notice({ ...good, reason: 'x'.repeat(chars) }).reason).toHaveLength(REASON_CHARS_MAX);
  });
});

describe('which notice it is', () => {
  const key = (event: object) => notice({ ...good, ...event }).dedupeKey;

  test.each(['event_id', 'id', 'uuid'])('%s names it, whatever else is said', (name) => {
    const again = (id: unknown) =>
      key({ [name]: id }) === key({ [name]: id, time: '2026-11-20T10:15:02Z', reason: 'x' });
    expect(again('relay-1')).toBe(true);
    expect(again(26_224)).toBe(true);
    expect(key({ [name]: 26_224 })).toBe(key({ [name]: '26224' }));
    expect(again('x'.repeat(EVENT_ID_CHARS_MAX))).toBe(true);
    expect(again('x'.repeat(EVENT_ID_CHARS_MAX + 1))).toBe(false);
    // Written as a number it was rounded, to the id of its neighbour.
    expect(again(2 ** 53)).toBe(false);
  });

  test.each(['event_id', 'id', 'uuid'])(
    '%s may name a message: not two notices are one',
    (name) => {
      const events = [
        { event: 'delivered' },
        { event: 'complaint' },
        { event: 'soft_bounce' },
        { event: 'hard_bounce' },
        { event: 'delivered', recipient: 'bob@example.com' },
      ];
      const keys = events.map((event) => key({ ...event, [name]: 'm1' }));
      expect(new Set(keys).size).toBe(events.length);
    },
  );

  test('without an id, the same telling is the same notice and any difference makes another', () => {
    const told = { message_id: '<a@b>', occurred_at: '2026-11-20T10:15:02Z' };
    const keys = [
      key(told),
      key({ ...told, event: 'bounce' }),
      key({ ...told, recipient: 'bob@example.com' }),
      key({ ...told, message_id: '<c@d>' }),
      key({ ...told, occurred_at: '2026-11-20T10:15:03Z' }),
      key({ ...told, send_id: SEND_ID }),
    ];
    expect(new Set(keys).size).toBe(keys.length);
    expect(key({ ...told })).toBe(keys[0]);
    const bounce = { event: 'bounce', ...told };
    expect(key({ ...bounce, code: 556 })).not.toBe(key(bounce));
    expect(key({ message_id: '<a@b>' })).toBe(key({ message_id: '<a@b>' }));
  });

  test('with neither id nor time it is the same notice for a short time only', () => {
    const isUndated = (event: object) => notice({ ...good, ...event }).isUndated ?? false;
    expect([isUndated({}), isUndated({ message_id: '<a@b>' })]).toEqual([true, true]);
    expect([isUndated({ time: 1_795_169_702 }), isUndated({ id: 'e1' })]).toEqual([false, false]);
  });

  test('an empty id is no id: two different events are two notices', () => {
    const keys = ['ann@example.com', 'bob@example.com'].map((recipient) =>
      key({ recipient, event_id: '' }),
    );
    expect(new Set(keys).size).toBe(2);
  });
});

describe('the body', () => {
  const refusal = (raw: string): Refusal => {
    try {
      readText(raw);
    } catch (error) {
      if (error instanceof Refusal) return error;
      throw error;
    }
    throw new Error('was not refused');
  };

  test('is one event, an array, or { events: [] }', () => {
    expect(read(good).notices).toHaveLength(1);
    expect(read([good, good]).notices).toHaveLength(2);
    expect(read({ events: [good, good, good] }).notices).toHaveLength(3);
  });

  test('holds between 1 and 500 events', () => {
    const many = (count: number) => Array<unknown>(count).fill(good);
    expect(read(many(NOTICES_MAX)).notices).toHaveLength(NOTICES_MAX);
    expect(read({ events: many(NOTICES_MAX) }).notices).toHaveLength(NOTICES_MAX);
    for (const body of [
      many(NOTICES_MAX + 1),
      { events: many(NOTICES_MAX + 1) },
      [],
      { events: [] },
    ])
      expect(refusal(JSON.stringify(body)).reason).toBe('invalid_request');
  });

  test('that is not JSON is refused as such', () => {
    for (const raw of ['', '{', 'event=bounce', 'undefined'])
      expect(refusal(raw).reason).toBe('invalid_json');
  });

  test('with bad neighbours is taken without them, each named by its place', () => {
    const { notices, errors } = read([
      good,
      { event: 'bounce' },
      null,
      'x',
      { recipient: 'ann@example.com' },
      { ...good, recipient: 'nobody' },
      [good],
      good,
    ]);
    expect(notices).toHaveLength(2);
    expect(errors.map(({ index, path }) => [index, path])).toEqual([
      [1, '/1/recipient'],
      [2, '/2'],
      [3, '/3'],
      [4, '/4/event'],
      [5, '/5/recipient'],
      [6, '/6'],
    ]);
    for (const { message } of errors) expect(message).not.toBe('');
  });

  test.each([
    ['no event', {}, '/event'],
    ['an event that is no text', { event: 5 }, '/event'],
    ['a type that is none', { type: ['bounce'] }, '/type'],
    ['no recipient', { event: 'bounce' }, '/recipient'],
    ['a recipient that is none', { event: 'bounce', rcpt: 'nobody' }, '/rcpt'],
    ['a list for a recipient', { event: 'bounce', to: ['ann@example.com'] }, '/to'],
    [
      'a wrong recipient beside another',
      { ...good, recipient: 'x', to: 'bob@b.test' },
      '/recipient',
    ],
  ])('with %s is refused, and says where', (_what, event, path) => {
    expect(read(event).errors.map((error) => error.path)).toEqual([path]);
    expect(read({ events: [good, event] }).errors).toMatchObject([{ path: `/events/1${path}` }]);
  });

  test('loses no complaint for what stands beside it', () => {
    const complaint = { event: 'complaint', recipient: 'ann@example.com' };
    for (const name of Object.keys(GenericBody.options[0].shape))
      for (const odd of [26_224, '', '550 5.1.1', 550, 0, -1, [], 'x', { a: 1 }, true, null])
        if (!(name in complaint)) {
          const { notices, errors } = read({ ...complaint, [name]: odd });
          const kinds = notices.map(({ kind, suppresses }) => [kind, suppresses]);
          expect([name, odd, errors, kinds]).toEqual([
            name,
            odd,
            [],
            [['complained', 'complaint']],
          ]);
        }
  });

  test('may say more than we understand, of any shape', () => {
    const more = {
      provider: 'x',
      tags: ['a'],
      metadata: { campaign: 1 },
      nested: { deep: [{}] },
      __proto__: null,
    };
    expect(read({ ...good, ...more }).notices).toHaveLength(1);
  });
});

describe('events that come together', () => {
  test('happened one after another where they have no time, the last when it was received', () => {
    const timed = { ...good, timestamp: '2026-11-20T11:00:00.000Z' };
    const { notices } = read([good, timed, good, { ...good, timestamp: 'at noon' }, good]);
    expect(notices.map(({ occurredAt }) => occurredAt.getTime() - NOW.getTime())).toEqual([
      -4, -3_600_000, -2, 0, 0,
    ]);
    expect(notice(good).occurredAt).toEqual(NOW);
  });
});
