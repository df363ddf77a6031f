// What Amazon SES reports has an effect only for messages that the project itself handed to Amazon SES.
import { beforeEach, describe, expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { settleLost } from '../../src/delivery/delivery.ts';
import { createProject } from '../../src/projects/projects.ts';
import { testEmailId } from '../../src/providers/test_email_id.ts';
import type { TestEmail } from '../../src/providers/test_email_id.ts';
import { OWNER } from '../delivery/one_send.ts';
import { expectRefusal } from '../support/api.ts';
import { bounceOf, complaintOf, sesWorld } from './ses_world.ts';
import { notificationOf } from './sns_service.ts';
import { mailgunEvent, signAs, smtp2goBody } from './told.ts';
import { someone } from './webhooks_of.ts';

const { database, api, hooks, ...world } = sesWorld();
const { post, confirm, notify, webhook, sentTo, accepted } = world;
beforeEach(() => confirm());

type Row = Record<string, unknown>;
const rowsOf = async (query: string): Promise<Row[]> =>
  (await database.owner.query<Row>(query, [api.project.project_id])).rows;

/** Everything that feedback may change, besides the notice itself. */
const effects = async () => ({
  suppressed: await rowsOf(
    'select address_key from suppression.addresses where project_id = $1 and suppressed_at is not null',
  ),
  events: await rowsOf(
    "select name, properties from ingest.events where project_id = $1 and source = 'system'",
  ),
  tags: await rowsOf('select tags from profiles.profiles where project_id = $1'),
  facts: await rowsOf(
    `select status, delivered_at, bounced_at, complained_at, taken_at, accepted_at from delivery.sends
     where project_id = $1 order by send_id`,
  ),
  addresses: await hooks.countOf('suppression.addresses'),
});

/** The send id that a test email of this project has, or one like it of another. */
const testIdOf = (to: string, other: Partial<TestEmail> = {}): string =>
  testEmailId(
    database.deps.keys,
    { projectId: api.project.project_id, to, service: 'amazon_ses', ...other },
    newId(),
  );

const IGNORED = { received: 1, accepted: 0, duplicates: 0, ignored: 1, errors: [] };

/** Posts an event of the confirmed topic, which is stored and has no effect. */
const isWithoutEffect = async (event: unknown): Promise<void> => {
  const before = await effects();
  expect((await notify(event)).body).toEqual(IGNORED);
  expect((await notify(event)).body).toMatchObject({ ignored: 0, duplicates: 1 });
  expect(await effects()).toEqual(before);
  expect((await webhook()).last_notices[0]).toMatchObject({ outcome: 'foreign', send_id: null });
  const [notice] = await rowsOf(
    'select address_key, reason, send_id, is_foreign from feedback.notices where project_id = $1',
  );
  expect(notice).toEqual({ address_key: null, reason: null, send_id: null, is_foreign: true });
};

/** A person of the project with this address: what suppresses it would tag them. */
const identify = (email: string) =>
  api.call('POST', '/v1/identify', {
    key: api.project.server_key,
    body: { external_id: newId(), traits: { email } },
  });

describe('no effect', () => {
  test('an address that this project never emailed is not suppressed by a confirmed topic', async () => {
    const email = someone();
    await identify(email);
    await isWithoutEffect(bounceOf(email));
  });

  test('an address alone proves nothing, though a send to it went through Amazon SES', async () => {
    const { email } = await accepted();
    await isWithoutEffect(complaintOf(email));
  });

  test('a send id or message id of another project proves nothing', async () => {
    const ours = api.project;
    api.project = await createProject(database.deps, 'other');
    const { email, sendId, messageId } = await accepted();
    api.project = ours;
    await isWithoutEffect(bounceOf(email, { sendId }));
    const { body } = await notify(bounceOf(email, { messageId }));
    expect([body.accepted, body.ignored]).toEqual([0, 1]);
  });

  test('the send of one address does not suppress another one', async () => {
    const { sendId } = await accepted();
    const other = await accepted();
    await isWithoutEffect(bounceOf(other.email, { sendId }));
  });

  test.each(['mailgun', 'smtp2go', 'other'] as const)(
    'a send that went through %s is none of Amazon SES',
    async (through) => {
      const { email, sendId } = await accepted(someone(), through);
      await isWithoutEffect(bounceOf(email, { sendId }));
    },
  );

  test.each([
    ['another recipient', { to: someone() }],
    ['another service', { service: 'mailgun' }],
    ['another project', { projectId: newId() }],
  ] as const)('the id of a test email of %s proves nothing', async (_of, other) => {
    const email = someone();
    await isWithoutEffect(complaintOf(email, { sendId: testIdOf(email, other) }));
  });

  test('neither a soft bounce, a delivery nor an unsubscribe of a foreign message counts', async () => {
    const { email } = await accepted();
    for (let at = 0; at < 6; at += 1)
      await notify(bounceOf(email, {}, { bounceType: 'Transient', bounceSubType: 'MailboxFull' }));
    await notify(bounceOf(email, {}, { bounceSubType: 'UnsubscribedRecipient' }));
    const delivery = {
      ...bounceOf(email),
      eventType: 'Delivery',
      delivery: { recipients: [email] },
    };
    await notify(delivery);
    expect(await hooks.reasonOf(email)).toBeNull();
    const [{ unsubscribed_at } = { unsubscribed_at: null }] = await rowsOf(
      'select unsubscribed_at from suppression.addresses where project_id = $1',
    );
    expect(unsubscribed_at).toBeNull();
    expect((await effects()).events).toEqual([]);
  });
});

describe('an effect', () => {
  test.each(['sendId', 'messageId'] as const)('by the %s of a send of the project', async (by) => {
    const send = await accepted();
    await identify(send.email);
    expect((await notify(complaintOf(send.email, { [by]: send[by] }))).body.accepted).toBe(1);
    expect(await hooks.reasonOf(send.email)).toBe('complaint');
    const [{ tags } = { tags: [] }] = await rowsOf(
      "select tags from profiles.profiles where project_id = $1 and tags <> '{}'",
    );
    expect(tags).toEqual(['complained']);
    expect((await webhook()).last_notices[0]).toMatchObject({ outcome: 'suppressed' });
  });

  test('of a complaint about a test email, which no newer send to the address takes over', async () => {
    const { email, sendId, sends } = await accepted();
    await identify(email);
    const event = complaintOf(email, { sendId: testIdOf(email) });
    expect((await notify(event)).body.accepted).toBe(1);
    expect(await hooks.reasonOf(email)).toBe('complaint');
    expect((await sends.read(sendId)).complained_at).toBeNull();
  });

  test('of a bounce by the account’s own suppression list', async () => {
    const { email, messageId } = await accepted();
    await notify(bounceOf(email, { messageId }, { bounceSubType: 'OnAccountSuppressionList' }));
    expect(await hooks.reasonOf(email)).toBe('provider_suppressed');
  });

  test('while the send is handed over, and after a crash left it unknown', async () => {
    const { email, sendId, sends } = await sentTo();
    await notify(bounceOf(email, { sendId }));
    expect(await hooks.reasonOf(email)).toBe('hard_bounce');
    const lost = await sentTo();
    await sends.within((scope) => settleLost(scope, [OWNER], 3_600));
    expect((await sends.read(sendId)).status).toBe('accepted');
    expect((await sends.read(lost.sendId)).status).toBe('unknown');
    await notify(bounceOf(lost.email, { sendId: lost.sendId }));
    expect(await hooks.reasonOf(lost.email)).toBe('hard_bounce');
    expect((await sends.read(lost.sendId)).status).toBe('accepted');
  });

  test('503 unavailable: without our id, Amazon repeats it until the outcome of the hand-off is written', async () => {
    const { email, messageId, accept } = await sentTo();
    const notification = notificationOf(bounceOf(email, { messageId }));
    expectRefusal(await post(notification), 'unavailable');
    expect(await hooks.countOf('feedback.notices')).toBe(0);
    // What names another message does not wait for this one.
    expect((await notify(bounceOf(email, { sendId: newId() }))).body).toEqual(IGNORED);
    await accept();
    expect((await post(notification)).body.accepted).toBe(1);
    expect(await hooks.reasonOf(email)).toBe('hard_bounce');
  });

  test('also once the provider is deleted, or another one took the retry', async () => {
    const { email, sendId, sends, addressKey } = await sentTo();
    await sends.end(sendId, 'deferred', { reason: 'throttled', retryAfterSeconds: -1 });
    const provider = newId();
    await sends.update(sendId, `provider_id = '${provider}'`);
    await sends.claim(provider);
    expect(await sends.begin({ sendId, addressKey } as never, OWNER, 2, 'other')).toBe(
      'handing_off',
    );
    expect((await notify(complaintOf(email, { sendId }))).body.accepted).toBe(1);
    expect(await hooks.reasonOf(email)).toBe('complaint');
  });

  test('for a send of an erased person: the hash of the address is suppressed, and no other address', async () => {
    const { email, sendId, addressKey } = await accepted();
    await database.owner.query(
      'update delivery.sends set address_key = null, recipient = null, subject = null where send_id = $1',
      [sendId],
    );
    await database.owner.query(
      'update suppression.addresses set erased_at = now(), email = null where address_key = $1',
      [addressKey],
    );
    await isWithoutEffect(bounceOf(someone(), { sendId }));
    expect((await notify(bounceOf(email, { sendId }))).body.accepted).toBe(1);
    const [row] = await rowsOf(
      'select email, reason from suppression.addresses where project_id = $1 and suppressed_at is not null',
    );
    expect(row).toEqual({ email: null, reason: 'hard_bounce' });
  });
});

describe('other dialects', () => {
  const ofOther = async () => {
    const ours = api.project;
    api.project = await createProject(database.deps, 'other');
    const send = await accepted(someone(), 'mailgun');
    api.project = ours;
    return send;
  };
  const postMailgun = async (event: object) => {
    await hooks.manage('POST', '/mailgun/signing-key', { signing_key: 'a-key' });
    return hooks.post('mailgun', { signature: signAs('a-key'), 'event-data': event });
  };

  test('Mailgun: a message of another project here has no effect; one of the account’s own has', async () => {
    const { email, sendId } = await ofOther();
    const failed = { event: 'failed', severity: 'permanent', reason: 'bounce', recipient: email };
    const status = { 'delivery-status': { code: 550, message: '5.1.1 user unknown' } };
    const message = (id: string) => ({ message: { headers: { 'message-id': id } } });
    for (const named of [
      { 'user-variables': { send_id: sendId } },
      message(`${sendId}.1@mail.shop.test`),
    ]) {
      const { body } = await postMailgun(mailgunEvent({ ...failed, ...status, ...named }));
      expect(body).toEqual(IGNORED);
    }
    expect(await hooks.reasonOf(email)).toBeNull();
    const own = mailgunEvent({ ...failed, ...status, ...message('theirs@mail.shop.test') });
    expect((await postMailgun(own)).body.accepted).toBe(1);
    expect(await hooks.reasonOf(email)).toBe('hard_bounce');
  });

  test('SMTP2GO: a message of another project here has no effect', async () => {
    const { email, sendId } = await ofOther();
    const event = smtp2goBody({ event: 'bounce', bounce: 'hard', rcpt: email });
    const named = { ...event, 'X-Trunkline-Send-Id': sendId };
    const key = api.project.hook_token;
    expect((await hooks.post('smtp2go', named, { key })).body).toEqual(IGNORED);
    expect(await hooks.reasonOf(email)).toBeNull();
  });

  test('the generic webhook may report any address: its poster has the project’s token', async () => {
    const { email, sendId } = await ofOther();
    const event = { event: 'bounce', bounce_type: 'hard', recipient: email, send_id: sendId };
    const { body } = await hooks.post('smtp', event, { key: api.project.hook_token });
    expect(body.accepted).toBe(1);
  });
});

test('notices of foreign messages keep nothing of a person', async () => {
  await notify(bounceOf(someone()));
  const rows = await rowsOf(
    'select n::text as row from feedback.notices as n where project_id = $1',
  );
  expect(JSON.stringify(rows)).not.toMatch(/user unknown|person-/);
});
