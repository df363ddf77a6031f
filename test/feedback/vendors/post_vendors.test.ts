// Vendors that post with the webhook token: what they report takes effect, and their tests of the
// URL are answered 200.
import { describe, expect, test } from 'vitest';
import { EVENTS_MAX } from '../../../src/feedback/dialects/dialect.ts';
import type { Source } from '../../../src/feedback/dialects/dialects.ts';
import { STORED_AT_ONCE_MAX } from '../../../src/feedback/take.ts';
import { createProject } from '../../../src/projects/projects.ts';
import { projectTold } from '../project_told.ts';
import { expectRefusal, testApi } from '../../support/api.ts';
import { testDatabase } from '../../support/database.ts';
import { readFacts, labelOf, readFact, sourceOfFact } from '../facts/read_facts.ts';
import { signAs } from '../told.ts';
import {
  brevoEvent,
  mailjetEvent,
  postmarkBounce,
  postmarkEvent,
  resendEvent,
  sendgridEvent,
  sparkpostEvent,
} from '../vendor_payloads.ts';
import { someone, webhooksOf } from '../webhooks_of.ts';

const database = testDatabase();
const api = testApi(database);
const hooks = webhooksOf(database, api);

const post = (slug: string, body: unknown) =>
  hooks.post(slug, body, { key: api.project.hook_token });

/** A hard bounce and a complaint of each vendor, about an address. */
const BAD: [Source, (email: string) => unknown, (email: string) => unknown][] = [
  [
    'postmark',
    (Email) => postmarkBounce('HardBounce', { Email, ID: Email }),
    (Email) => postmarkBounce('SpamComplaint', { RecordType: 'SpamComplaint', Email, ID: Email }),
  ],
  [
    'sendgrid',
    (email) => [sendgridEvent('bounce', { email, type: 'bounce' })],
    (email) => [sendgridEvent('spamreport', { email })],
  ],
  [
    'resend',
    (to) => resendEvent('email.bounced', { to: [to], bounce: { type: 'Permanent' } }),
    (to) => resendEvent('email.complained', { to: [to] }),
  ],
  [
    'brevo',
    (email) => brevoEvent('hard_bounce', { email }),
    (email) => brevoEvent('spam', { email }),
  ],
  [
    'mailjet',
    (email) => [mailjetEvent('bounce', { email, hard_bounce: true, error: 'user unknown' })],
    (email) => mailjetEvent('spam', { email }),
  ],
  [
    'sparkpost',
    (rcpt_to) => [sparkpostEvent('bounce', { rcpt_to, bounce_class: '10' })],
    (rcpt_to) => [sparkpostEvent('spam_complaint', { rcpt_to })],
  ],
];

describe.each(BAD)('%s', (slug, bounceOf, complaintOf) => {
  test('200: a hard bounce and a complaint suppress the address', async () => {
    const [a, b] = [someone(), someone()];
    expect(await post(slug, bounceOf(a))).toMatchObject({ status: 200, body: { accepted: 1 } });
    expect(await post(slug, complaintOf(b))).toMatchObject({ status: 200, body: { accepted: 1 } });
    expect([await hooks.reasonOf(a), await hooks.reasonOf(b)]).toEqual([
      'hard_bounce',
      'complaint',
    ]);
    expect((await hooks.describe(slug)).last_notices).toMatchObject([
      { kind: 'complained', outcome: 'suppressed' },
      { kind: 'bounced', bounce_type: 'hard', outcome: 'suppressed' },
    ]);
  });

  test('200: the same post again is a duplicate', async () => {
    const body = bounceOf(someone());
    expect((await post(slug, body)).body).toMatchObject({ accepted: 1, duplicates: 0 });
    expect((await post(slug, body)).body).toMatchObject({ accepted: 0, duplicates: 1 });
  });

  test('401: without the token, or with another one, it has no effect', async () => {
    const email = someone();
    const refused = await hooks.post(slug, bounceOf(email), { key: null });
    expect(refused.status).toBe(401);
    expectRefusal(
      await hooks.post(slug, bounceOf(email), { key: 'svc_hook_live_x' }),
      'invalid_token',
    );
    expect(await hooks.reasonOf(email)).toBeNull();
  });

  test('400 invalid_request: what is nothing of the vendor is refused, and shown', async () => {
    for (const body of [{}, { hello: 'world' }, [null], 'x'])
      expectRefusal(await post(slug, JSON.stringify(body)), 'invalid_request');
    await expect
      .poll(async () => (await hooks.describe(slug)).refused?.last_error, { timeout: 10_000 })
      .toBe('invalid_request');
  });
});

test.each<[string, unknown]>([
  ['sparkpost', [{ msys: {} }]],
  ['resend', resendEvent('domain.updated')],
  ['brevo', brevoEvent('list_addition')],
  ['postmark', postmarkEvent('Inbound')],
])('200: a test of the URL of %s is ignored, and counted: %j', async (slug, body) => {
  expect(await post(slug, body)).toMatchObject({
    status: 200,
    body: { received: 1, accepted: 0, duplicates: 0, ignored: 1, errors: [] },
  });
});

test.each(['sparkpost', 'sendgrid', 'brevo', 'mailjet'])(
  '200: an empty array of %s holds no event',
  async (slug) => {
    expect(await post(slug, [])).toMatchObject({
      status: 200,
      body: { received: 0, accepted: 0, duplicates: 0, ignored: 0, errors: [] },
    });
  },
);

test('200: an event that names no email counts as ignored, and is no last event', async () => {
  api.project = await createProject(database.deps, 'names nothing');
  expect((await post('postmark', { RecordType: 'Bounce' })).body).toEqual({
    received: 1,
    accepted: 0,
    duplicates: 0,
    ignored: 1,
    errors: [],
  });
  expect((await hooks.describe('postmark')).last_notices).toEqual([]);
});

test('200: of a batch the good events count, and the others are named', async () => {
  const [a, b] = [someone(), someone()];
  const { status, body } = await post('sendgrid', [
    sendgridEvent('spamreport', { email: a }),
    null,
    { email: b },
    sendgridEvent('spamreport', { email: b }),
  ]);
  expect([status, body.received, body.accepted]).toEqual([200, 4, 2]);
  expect(body.errors.map(({ path }: { path: string }) => path)).toEqual(['/1', '/2']);
  expect([await hooks.reasonOf(a), await hooks.reasonOf(b)]).toEqual(['complaint', 'complaint']);
});

test('200: a batch of more events than one transaction stores is stored in parts', async () => {
  const count = STORED_AT_ONCE_MAX + 1;
  const events = Array.from({ length: count }, () =>
    sendgridEvent('delivered', { email: someone() }),
  );
  expect((await post('sendgrid', events)).body).toMatchObject({ received: count, accepted: count });
  expect((await post('sendgrid', events)).body).toMatchObject({ accepted: 0, duplicates: count });
});

test('400 invalid_request: one event more than a batch holds', async () => {
  const events = (count: number) => Array.from({ length: count }, () => ({ msys: {} }));
  expect((await post('sparkpost', events(EVENTS_MAX))).status).toBe(200);
  expectRefusal(await post('sparkpost', events(EVENTS_MAX + 1)), 'invalid_request');
});

test('an event without a recipient is about the recipient of the send that it names', async () => {
  const { accepted } = projectTold(database, api.project.project_id);
  const email = someone();
  const sendId = await accepted(email, 'theirs-1');
  const event = (given: object) => postmarkBounce('HardBounce', { Email: undefined, ...given });
  expect((await post('postmark', event({ MessageID: 'of-no-send', ID: 1 }))).body).toMatchObject({
    received: 1,
    accepted: 0,
    ignored: 1,
  });
  expect(await hooks.reasonOf(email)).toBeNull();
  await post('postmark', event({ MessageID: 'theirs-1', ID: 2 }));
  expect(await hooks.reasonOf(email)).toBe('hard_bounce');
  const metadata = { Metadata: { send_id: sendId }, ID: 3, RecordType: 'SpamComplaint' };
  await post('postmark', postmarkBounce('SpamComplaint', { Email: undefined, ...metadata }));
  expect(await hooks.reasonOf(email)).toBe('complaint');
});

test('SMTP2GO: an event with an id that is not written yet waits while its email is handed over', async () => {
  const { sends, keyOf } = projectTold(database, api.project.project_id);
  const email = someone();
  const addressKey = await keyOf(email);
  const send = await sends.handingOff({ recipient: email, addressKey }, 'smtp2go');
  const event = { event: 'bounce', bounce: 'hard', rcpt: email, email_id: 'theirs-2', id: 'e1' };
  const refused = await post('smtp2go', event);
  expectRefusal(refused, 'unavailable');
  expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
  expect(await hooks.reasonOf(email)).toBeNull();
  await sends.end(send.sendId, 'accepted', { providerMessageId: 'theirs-2' });
  expect((await post('smtp2go', event)).body).toMatchObject({ accepted: 1 });
  expect((await sends.read(send.sendId)).bounced_at).not.toBeNull();
});

const SUPPRESSES: Record<string, string[]> = {
  hard_bounce: ['hard_bounce'],
  complaint: ['complaint'],
  rejected_by_provider: ['provider_suppressed', 'complaint'],
};

const facts = readFacts().filter((fact) => sourceOfFact(fact) !== 'amazon-ses');

test.each(facts.map((fact) => [fact.id, fact.meaning, fact] as const))(
  'what vendors post is answered 200, and suppresses by its meaning alone: %s, %s',
  async (_id, meaning, fact) => {
    const email = someone();
    const [notice] = (await readFact(fact)).notices;
    expect(labelOf(notice)).toBe(meaning);
    await hooks.manage('POST', '/mailgun/signing-key', { signing_key: 'a-key' });
    const address = fact.recipient?.replace(/^.*<(.*)>$/, '$1') ?? 'unknown@example.org';
    const raw = JSON.stringify(fact.payload).replaceAll(address, email);
    const payload = JSON.parse(raw) as object;
    const isMailgun = sourceOfFact(fact) === 'mailgun';
    const body = isMailgun ? { ...payload, signature: signAs('a-key') } : payload;
    expect((await post(sourceOfFact(fact), body)).status).toBe(200);
    const reason = await hooks.reasonOf(email);
    expect([null, ...(SUPPRESSES[meaning] ?? [])]).toContain(reason);
    if (meaning === 'hard_bounce' || meaning === 'complaint') expect(reason).not.toBeNull();
  },
);
