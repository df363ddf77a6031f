// Which email an event of a vendor is about, its time, its recipient, and what makes it another
// event.
import { describe, expect, test } from 'vitest';
import { EVENTS_MAX } from '../../../src/feedback/dialects/dialect.ts';
import { dialectOf } from '../../../src/feedback/dialects/dialects.ts';
import type { Source } from '../../../src/feedback/dialects/dialects.ts';
import { noticeAs, NOW, readAs, SEND_ID } from '../told.ts';
import {
  brevoEvent,
  mailjetEvent,
  POSTMARK_ID,
  postmarkBounce,
  postmarkEvent,
  resendEvent,
  sendgridEvent,
  sparkpostEvent,
} from '../vendor_payloads.ts';

const read = (source: Source, event: unknown) => noticeAs(dialectOf(source), event);
const sg = 'wrfRRvF7Q0GgwUo2CvDmEA';

test.each<[Source, unknown]>([
  ['postmark', postmarkEvent('Delivery', { Metadata: { send_id: SEND_ID } })],
  ['postmark', postmarkBounce('HardBounce', { Metadata: { 'Send-Id': SEND_ID } })],
  ['sendgrid', sendgridEvent('delivered', { send_id: SEND_ID })],
  ['resend', resendEvent('email.delivered', { tags: { send_id: SEND_ID } })],
  ['resend', resendEvent('email.delivered', { tags: [{ name: 'send_id', value: SEND_ID }] })],
  [
    'resend',
    resendEvent('email.sent', { headers: [{ name: 'X-Trunkline-Send-Id', value: SEND_ID }] }),
  ],
  ['brevo', brevoEvent('delivered', { 'X-Mailin-custom': `send_id:${SEND_ID}|more:1` })],
  ['brevo', brevoEvent('delivered', { 'X-Mailin-custom': JSON.stringify({ send_id: SEND_ID }) })],
  ['mailjet', mailjetEvent('sent', { CustomID: SEND_ID })],
  ['mailjet', mailjetEvent('sent', { Payload: JSON.stringify({ send_id: SEND_ID }) })],
  ['sparkpost', sparkpostEvent('delivery', { rcpt_meta: { send_id: SEND_ID } })],
])('%s returns our id of the send: %j', async (source, event) => {
  expect((await read(source, event)).sendId).toBe(SEND_ID);
});

test.each<[Source, unknown, string[]]>([
  ['postmark', postmarkEvent('Delivery'), [POSTMARK_ID, `${POSTMARK_ID}@mtasv.net`]],
  ['postmark', postmarkEvent('Open', { MessageID: '00000000-0000-0000-0000-000000000000' }), []],
  [
    'sendgrid',
    sendgridEvent('open'),
    [sg, `${sg}.filter0001.16648.5515E0B88.0`, '<14c5d75ce93.dfd.64b469@mail.shop.test>'],
  ],
  [
    'resend',
    resendEvent('email.opened', { message_id: '<a@b>' }),
    ['56761188-7520-42d8-8898-ff6fc54ce618', '<a@b>'],
  ],
  ['brevo', brevoEvent('opened'), ['<202611201015.21287306012@smtp-relay.mailin.fr>']],
  ['sparkpost', sparkpostEvent('open'), ['000443ee14578172be22', '65832150921904138']],
])('%s names the email by its own ids', async (source, event, ids) => {
  const notice = await read(source, event);
  expect([notice.messageIds, notice.sendId]).toEqual([ids, null]);
});

test('the ids of Mailjet are exact, though they are larger than a number of JavaScript can be', async () => {
  const raw = JSON.stringify([mailjetEvent('sent', { MessageID: '@' })]);
  const { notices } = await readAs(
    dialectOf('mailjet'),
    raw.replace('"@"', '12345678901234567').replace('"sent"', '"sent","mj_message_id":"7"'),
  );
  expect(notices[0]?.messageIds).toEqual([
    '12345678901234567',
    '7',
    '1ab23cd4-e567-4901-a345-6789f0fa1b2c',
  ]);
  // The same digits in a text stay as they are.
  const text = '"MessageID": 12345678901234567,';
  const spam = mailjetEvent('bounce', { comment: text, MessageID: 5 });
  const { notices: others } = await readAs(dialectOf('mailjet'), spam);
  expect(others[0]).toMatchObject({ reason: text, messageIds: ['5', expect.any(String)] });
});

test.each<[Source, unknown]>([
  ['postmark', postmarkEvent('Delivery')],
  ['postmark', postmarkEvent('SubscriptionChange')],
  ['postmark', postmarkBounce('HardBounce', { BouncedAt: '2026-11-20T06:15:02.0000000-04:00' })],
  ['sendgrid', sendgridEvent('open')],
  ['resend', resendEvent('email.opened')],
  ['brevo', brevoEvent('opened')],
  ['brevo', brevoEvent('opened', { ts_epoch: undefined })],
  ['mailjet', mailjetEvent('open')],
  ['sparkpost', sparkpostEvent('open')],
])('an event of %s happened when the vendor says: %j', async (source, event) => {
  expect((await read(source, event)).occurredAt.toISOString()).toBe('2026-11-20T10:15:02.000Z');
});

const PLACES: Record<string, (given: object) => unknown> = {
  postmark: ({ email }: { email?: unknown }) => postmarkEvent('Open', { Recipient: email }),
  sendgrid: ({ email }: { email?: unknown }) => sendgridEvent('open', { email }),
  resend: ({ email }: { email?: unknown }) => resendEvent('email.opened', { to: email }),
  brevo: ({ email }: { email?: unknown }) => brevoEvent('opened', { email }),
  mailjet: ({ email }: { email?: unknown }) => mailjetEvent('open', { email }),
  sparkpost: ({ email }: { email?: unknown }) =>
    sparkpostEvent('open', { rcpt_to: email, raw_rcpt_to: email }),
};

test.each(Object.keys(PLACES))(
  '%s names the recipient; without it the send may',
  async (source) => {
    const dialect = dialectOf(source as Source);
    const emailOf = async (email: unknown) => {
      const { notices, errors } = await readAs(dialect, PLACES[source]?.({ email }));
      expect([notices.length, errors.length]).toEqual([1, 0]);
      return notices[0]?.email;
    };
    expect(await emailOf('Ann <Ann@Example.NET>')).toBe('Ann@example.net');
    for (const none of [undefined, null, '', 'no-address', 'a@b, c@d', 5, {}])
      expect(await emailOf(none)).toBeNull();
  },
);

test('an email of Resend with several recipients suppresses none of them', async () => {
  const bounce = { type: 'Permanent', subType: 'General' };
  const to = ['ann@example.net', 'bob@example.net'];
  expect(await read('resend', resendEvent('email.bounced', { to, bounce }))).toMatchObject({
    email: 'ann@example.net',
    kind: 'bounced',
    suppresses: null,
  });
  expect(await read('resend', resendEvent('email.complained', { to }))).toMatchObject({
    suppresses: null,
  });
});

test('what Postmark and Resend report twice is on a timeline once', async () => {
  const given = { SuppressSending: true, SuppressionReason: 'HardBounce' };
  const repeats = [
    await read('postmark', postmarkEvent('SubscriptionChange', given)),
    await read('resend', resendEvent('suppression.added', { origin: 'bounce' })),
  ];
  expect(repeats.map(({ isRepeat }) => isRepeat)).toEqual([true, true]);
  expect((await read('postmark', postmarkBounce('HardBounce'))).isRepeat).toBeUndefined();
});

describe('which event it is', () => {
  const key = async (source: Source, event: unknown) => (await read(source, event)).dedupeKey;
  const LATER = Date.parse('2026-11-20T10:15:03Z');

  test.each<[Source, unknown, unknown[]]>([
    [
      'postmark',
      postmarkEvent('Open'),
      [
        postmarkEvent('Click'),
        postmarkEvent('Open', { ReceivedAt: '2026-11-20T10:15:03Z' }),
        postmarkEvent('Open', { MessageID: 'other' }),
        postmarkEvent('Open', { Recipient: 'bob@example.net' }),
      ],
    ],
    [
      'postmark',
      postmarkBounce('HardBounce'),
      [postmarkBounce('HardBounce', { ID: 2 }), postmarkBounce('SoftBounce')],
    ],
    [
      'sendgrid',
      sendgridEvent('open', { sg_event_id: 'a' }),
      [
        sendgridEvent('open', { sg_event_id: 'b' }),
        sendgridEvent('click', { sg_event_id: 'a' }),
        sendgridEvent('open', { sg_event_id: undefined }),
      ],
    ],
    [
      'resend',
      resendEvent('email.opened'),
      [
        resendEvent('email.clicked'),
        { ...resendEvent('email.opened'), created_at: '2026-11-20T10:15:03Z' },
        resendEvent('email.opened', { email_id: 'other' }),
      ],
    ],
    [
      'brevo',
      brevoEvent('click', { link: 'a' }),
      [brevoEvent('click', { link: 'b' }), brevoEvent('click', { link: 'a', ts_epoch: LATER })],
    ],
    [
      'mailjet',
      mailjetEvent('click', { url: 'a' }),
      [mailjetEvent('click', { url: 'b' }), mailjetEvent('click', { url: 'a', MessageID: 4 })],
    ],
    [
      'sparkpost',
      sparkpostEvent('open', { event_id: 'a' }),
      [sparkpostEvent('open', { event_id: 'b' }), sparkpostEvent('click', { event_id: 'a' })],
    ],
  ])(
    '%s: the same event is one event, and any difference makes another',
    async (source, event, others) => {
      const keys = await Promise.all([event, ...others].map((one) => key(source, one)));
      expect(new Set(keys).size).toBe(keys.length);
      expect(await key(source, event)).toBe(keys[0]);
    },
  );

  test.each<[Source, unknown]>([
    ['postmark', postmarkEvent('Open', { ReceivedAt: undefined })],
    ['sendgrid', sendgridEvent('open', { sg_event_id: undefined, timestamp: undefined })],
    ['resend', { ...resendEvent('email.opened'), created_at: null }],
    ['brevo', brevoEvent('opened', { ts_epoch: null, ts_event: null })],
    ['mailjet', mailjetEvent('open', { time: null })],
    ['sparkpost', sparkpostEvent('open', { event_id: null, timestamp: null })],
  ])('%s without id and time is the same event for a short time only', async (source, event) => {
    expect(await read(source, event)).toMatchObject({ isUndated: true, occurredAt: NOW });
  });
});

describe('several events in one body', () => {
  const events = [sendgridEvent('open'), null, { event: [] }, 'x', sendgridEvent('click')];

  test.each([
    ['an array', events, ''],
    ['an envelope', { events }, '/events'],
  ])('as %s: one that cannot be read loses no other, and is named', async (_how, body, path) => {
    const { notices, errors } = await readAs(dialectOf('sendgrid'), body);
    expect(notices.map(({ kind }) => kind)).toEqual(['opened', 'clicked']);
    expect(errors.map((error) => [error.index, error.path])).toEqual([
      [1, `${path}/1`],
      [2, `${path}/2`],
      [3, `${path}/3`],
    ]);
  });

  test('Mailjet posts an object, or an array of mixed events', async () => {
    const dialect = dialectOf('mailjet');
    expect((await readAs(dialect, mailjetEvent('open'))).notices).toHaveLength(1);
    const both = [mailjetEvent('open'), mailjetEvent('spam')];
    expect((await readAs(dialect, both)).notices.map(({ kind }) => kind)).toEqual([
      'opened',
      'complained',
    ]);
  });

  test(`at most ${EVENTS_MAX}, and none is a test of the URL`, async () => {
    const dialect = dialectOf('sparkpost');
    const many = (count: number) => Array.from({ length: count }, () => ({ msys: {} }));
    expect(await readAs(dialect, many(EVENTS_MAX))).toMatchObject({ asideCount: EVENTS_MAX });
    expect(await readAs(dialect, [])).toEqual({ notices: [], errors: [] });
    await expect(async () => readAs(dialect, many(EVENTS_MAX + 1))).rejects.toMatchObject({
      reason: 'invalid_request',
    });
  });
});
