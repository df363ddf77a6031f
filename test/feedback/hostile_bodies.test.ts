// Whatever is posted, whoever posts it: an answer below 500, at once, and nothing of the token in the log.
import { beforeAll, describe, expect, test } from 'vitest';
import { openLog } from '../../src/base/log.ts';
import { dialects, SOURCES } from '../../src/feedback/dialects/dialects.ts';
import { Refusal } from '../../src/base/refusal.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { processorMs } from '../support/processor.ts';
import {
  mailgunEvent,
  readAs,
  sesBounce,
  sesComplaint,
  sesEvent,
  signAs,
  smtp2goBody,
} from './told.ts';
import {
  brevoEvent,
  mailjetEvent,
  postmarkBounce,
  postmarkEvent,
  resendEvent,
  sendgridEvent,
  sparkpostEvent,
} from './vendor_payloads.ts';
import { someone, webhooksOf } from './webhooks_of.ts';

const database = testDatabase();
const lines: string[] = [];
beforeAll(() => {
  const log = openLog('trace', { write: (line) => void lines.push(line) });
  database.deps = { ...database.deps, log };
});
const api = testApi(database);
const hooks = webhooksOf(database, api);

/** Of the processor, for one post; what tries again and again would take minutes. */
const QUICK_MS = 2_000;
const MANY = 200_000;

/** Values that stand where nobody expects them. */
const ODD: unknown[] = [
  null,
  true,
  0,
  -1,
  1e308,
  JSON.parse('1e999'),
  '',
  ' ',
  '\u0000',
  '\ud800',
  'x'.repeat(5_000),
  '<'.repeat(4_000),
  '<a@b>'.repeat(800),
  ' '.repeat(4_096),
  [],
  {},
  [[]],
  [null],
  { a: 1 },
  { length: 1e9 },
  { toString: 1 },
  { __proto__: null },
  JSON.parse('{"__proto__":{"x":1}}'),
  { constructor: { prototype: 1 } },
  '-271821-04-20T00:00:00Z',
  '2026-02-30',
  `${'9'.repeat(4_000)}`,
  'a@b, c@d',
  '__proto__',
  'constructor',
  `2026-11-20T${' '.repeat(4_000)}+0000`,
  `${'1.'.repeat(2_000)}x`,
];

/** A body and every one that is the same but for an odd value in one place. */
const spoiled = function* (body: unknown): Generator<unknown> {
  if (typeof body !== 'object' || body === null) return;
  for (const [name, value] of Object.entries(body)) {
    const put = (one: unknown) => (Array.isArray(body) ? [one] : { ...body, [name]: one });
    for (const odd of ODD) yield put(odd);
    for (const inner of spoiled(value)) yield put(inner);
  }
};

const BODIES: Record<(typeof SOURCES)[number], object[]> = {
  smtp: [
    {
      event: 'bounce',
      bounce_type: 'hard',
      recipient: 'a@b.test',
      occurred_at: 1,
      metadata: { send_id: 'x' },
    },
  ],
  smtp2go: [
    smtp2goBody({ event: 'bounce', bounce: 'hard' }),
    smtp2goBody({ rcpt: undefined, recipients: ['a@b.test'] }),
  ],
  mailgun: [
    {
      'event-data': mailgunEvent({
        event: 'failed',
        severity: 'permanent',
        reason: 'bounce',
        reject: {},
      }),
    },
  ],
  'amazon-ses': [
    sesBounce('Permanent', 'General'),
    sesComplaint(),
    sesEvent(
      'Delivery',
      { recipients: ['a@b.test'] },
      { headers: [{ name: 'a', value: 'b' }], tags: { send_id: ['x'] } },
    ),
    sesEvent('Subscription', { newTopicPreferences: { topicSubscriptionStatus: [{}] } }),
    { source: 'aws.ses', detail: sesComplaint() },
  ],
  postmark: [
    postmarkBounce('HardBounce', { Metadata: { send_id: 'x' } }),
    postmarkBounce('SMTPApiError'),
    postmarkEvent('SubscriptionChange', { SuppressSending: true, SuppressionReason: 'HardBounce' }),
  ],
  sendgrid: [
    [sendgridEvent('bounce', { reason: '550', status: '5.1.1', type: 'bounce', send_id: 'x' })],
    [sendgridEvent('dropped', { reason: 'Bounced Address' })],
  ],
  resend: [
    resendEvent('email.bounced', {
      bounce: {
        type: 'Permanent',
        subType: 'General',
        message: 'x',
        diagnosticCode: ['smtp; 550'],
      },
      headers: [{ name: 'a', value: 'b' }],
      tags: [{ name: 'send_id', value: 'x' }],
    }),
    resendEvent('email.clicked', { click: { timestamp: 'x' }, tags: { send_id: 'x' } }),
  ],
  brevo: [brevoEvent('hard_bounce', { reason: '550', 'X-Mailin-custom': 'send_id:x' })],
  mailjet: [
    [mailjetEvent('bounce', { hard_bounce: true, error: 'user unknown', comment: '550' })],
    mailjetEvent('blocked', { error: 'preblocked', Payload: '{"send_id":"x"}' }),
  ],
  sparkpost: [
    [
      sparkpostEvent('bounce', {
        bounce_class: '10',
        raw_reason: '550',
        rcpt_meta: { send_id: 'x' },
      }),
    ],
    [sparkpostEvent('spam_complaint', { fbtype: 'abuse' })],
  ],
};

describe.each(SOURCES)('%s', (source) => {
  const dialect = dialects[source];

  test('takes an odd value anywhere for what it is, at once, and makes notices that can be stored', async () => {
    const begun = processorMs();
    let count = 0;
    for (const body of BODIES[source].flatMap((one) => [...spoiled(one)])) {
      count += 1;
      try {
        const { notices } = await readAs(dialect, body);
        for (const notice of notices) {
          if (notice.email !== null) expect(notice.email).toMatch(/^[^\s@]+@[^\s@]+$/);
          expect(Number.isNaN(notice.occurredAt.getTime())).toBe(false);
          expect(JSON.stringify(notice)).not.toMatch(/\\u0000|\\ud800/);
        }
      } catch (error) {
        expect(error).toBeInstanceOf(Refusal);
      }
    }
    expect((processorMs() - begun) / count).toBeLessThan(QUICK_MS / 10);
  });

  const hostile: [string, string | Buffer][] = [
    ['nothing', ''],
    ['what is no JSON', '{"event":'],
    ['bytes that are no UTF-8', Buffer.from([0x22, 0xff, 0xfe, 0x22])],
    ['a very deep list', '['.repeat(MANY) + ']'.repeat(MANY)],
    ['a very deep object', '{"a":'.repeat(MANY) + '1' + '}'.repeat(MANY)],
    ['a very deep event', `{"event":${'['.repeat(MANY)}${']'.repeat(MANY)}}`],
    ['a very long list', `[${'0,'.repeat(MANY)}0]`],
    ['very many members', `{${Array.from({ length: 50_000 }, (_, at) => `"m${at}":1`).join()}}`],
    ['one very long text', `{"event":"bounce","recipient":"${'a'.repeat(900_000)}"}`],
    [
      'members of every object',
      '{"__proto__":{"event":"bounce"},"constructor":1,"hasOwnProperty":1}',
    ],
    ['more than a body may hold', 'x'.repeat(2 * 1024 * 1024 + 1)],
  ];
  test.each(hostile)('refuses %s below 500 and at once', async (_what, raw) => {
    const begun = processorMs();
    const { status, body } = await hooks.post(source, raw, { key: api.project.hook_token });
    expect(status).toBeLessThan(500);
    // An event of a vendor that names no email has no effect.
    if (status < 400) expect(body).toMatchObject({ received: 1, accepted: 0, ignored: 1 });
    expect(processorMs() - begun).toBeLessThan(QUICK_MS);
  });
});

const FORM = 'application/x-www-form-urlencoded';
const PART = 'Content-Disposition: form-data; name="event"';
test.each([
  ['a form of very many fields', FORM, 'a=1&'.repeat(MANY)],
  ['a form of nothing but signs', FORM, '&=%'.repeat(MANY)],
  ['a form with half an escape', FORM, 'event=bounce&rcpt=%4'],
  ['a form in another charset', `${FORM}; charset=utf-16`, 'event=bounce&rcpt=a%40b.test'],
  ['a multipart body that is cut', 'multipart/form-data; boundary=x', `--x\r\n${PART}\r\n\r\nboun`],
  ['a multipart body of boundaries', 'multipart/form-data; boundary=x', '--x\r\n'.repeat(100_000)],
  ['a multipart body without a boundary', 'multipart/form-data', '--x--'],
  [
    'a multipart body with a very long boundary',
    `multipart/form-data; boundary=${'x'.repeat(4_000)}`,
    'x',
  ],
])('SMTP2GO: %s is answered below 500 and at once', async (_what, contentType, body) => {
  const begun = processorMs();
  const { status } = await hooks.post('smtp2go', body, {
    key: api.project.hook_token,
    contentType,
  });
  expect(status).toBeLessThan(500);
  expect(processorMs() - begun).toBeLessThan(QUICK_MS);
});

test('a token in the address is in no line of the log, whatever becomes of the post', async () => {
  const { hook_token: token } = api.project;
  const query = `?token=${token}`;
  const email = someone();
  for (const source of SOURCES)
    await hooks.post(source, { event: 'bounce', recipient: email }, {}, query);
  await hooks.post('smtp2go', { event: 'bounce' }, {}, query);
  await hooks.post(
    'mailgun',
    { signature: signAs('x'), 'event-data': { recipient: email } },
    {},
    query,
  );
  await database.owner.query('revoke insert on feedback.notices from trunkline_runtime');
  const body = { event: 'delivered', recipient: email, event_id: 'once' };
  expect((await hooks.post('smtp', body, {}, query)).status).toBe(500);
  await database.owner.query('grant insert on feedback.notices to trunkline_runtime');
  expect(lines.length).toBeGreaterThan(0);
  for (const secret of [token, encodeURIComponent(token), email])
    expect(lines.join('')).not.toContain(secret);
});
