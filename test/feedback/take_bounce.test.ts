// A hard bounce that is said while the message is handed over does what one does that a webhook tells.
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { observeHandOffs, sendQueued, settleLost } from '../../src/delivery/delivery.ts';
import { stepHandOffs } from '../../src/delivery/hand_off_queries.ts';
import { takeBounce } from '../../src/feedback/feedback.ts';
import { newId } from '../../src/base/ids.ts';
import { writeSoftBouncesMax } from '../../src/feedback/soft_queries.ts';
import { saveTemplate } from '../../src/rendering/rendering.ts';
import { newSend, OWNER } from '../delivery/one_send.ts';
import { newPerson, tell as tellOf } from '../profiles/people.ts';
import { counterparts, fieldsOf, providersOf } from '../providers/counterparts.ts';
import type { KINDS } from '../providers/counterparts.ts';
import { ownApi } from '../support/own_api.ts';
import { cloudError } from '../support/cloud_sink.ts';
import { NEVER, testDatabase } from '../support/database.ts';
import { eraseNow } from '../support/erase.ts';
import { until } from '../support/until.ts';
import { EMAIL, newNotice, projectTold } from './project_told.ts';

const database = testDatabase();
const sinks = counterparts(database);
const api = ownApi(database);
const { create } = providersOf(api);
type Kind = (typeof KINDS)[number];

/** A send to Ann, whom the project knows, and what came of it and of her. */
const toAnn = async (kind: Kind = 'smtp') => {
  const { project_id: projectId, server_key: key } = api.project;
  const project = projectTold(database, projectId);
  const ann = await newPerson(database, projectId);
  await tellOf(database, ann, { traits: { email: EMAIL } });
  const { id: providerId } = (await create(fieldsOf(sinks, kind))).body;
  const template = { name: 'Welcome', subject: 'Welcome', html: '<p>Hi</p>', text: null };
  const templateId = await project.sends.within((scope) => saveTemplate(scope, template));
  const send = newSend({
    providerId,
    templateId,
    recipient: EMAIL,
    addressKey: await project.keyOf(EMAIL),
    identityId: ann.identityId,
    profileId: ann.profileId,
  });
  const work = async (sendId = send.sendId) => {
    const turning = { projectId, providerId, owner: OWNER, signal: NEVER, takeBounce };
    await sendQueued(database.deps, turning);
    await until(
      'the hand-off has ended',
      async () => (await project.sends.read(sendId)).lease_owner === null,
    );
  };
  const stand = async () => (await api.call('GET', `/v1/sends/${send.sendId}`, { key })).body;
  const timeline = async () => {
    await project.sends.within((scope) => observeHandOffs(scope));
    const { rows } = await database.owner.query<{ name: string; properties: object }>(
      `select name, properties from ingest.events where project_id = $1 and source = 'system' order by name`,
      [projectId],
    );
    return rows;
  };
  const profile = async () =>
    (await api.call('GET', `/v1/profiles/${ann.profileId}`, { key })).body;
  return { ...project, ann, send, work, stand, timeline, profile };
};

const bounces: [Kind, string, () => void, string][] = [
  [
    'smtp',
    'at RCPT',
    () => sinks.smtp.play('rcpt', { code: 550, text: '5.1.1 unknown' }),
    '550 5.1.1',
  ],
  [
    'smtp',
    'after DATA',
    () => sinks.smtp.play('end', { code: 550, text: '5.2.1 closed' }),
    '550 5.2.1',
  ],
  [
    'relay_api',
    'in its answer',
    () => {
      const data = { succeeded: 0, failed: 1, failures: [`${EMAIL}: 550 5.1.1 user unknown`] };
      sinks.relay.play('/email/mime', { status: 200, json: { data } });
    },
    '550 5.1.1',
  ],
  [
    'cloud_api',
    'in its answer',
    () => {
      const bad = cloudError(400, 'BadRequestException', "Missing final '@domain'");
      sinks.cloud.play('/v2/email/outbound-emails', bad);
    },
    '5.1.3',
  ],
];

describe.each(bounces)('%s, %s', (kind, _where, play, codes) => {
  test('the address is suppressed, its people are tagged, and the send and the timeline say so', async () => {
    const { send, sends, work, stand, timeline, profile, suppressed } = await toAnn(kind);
    await sends.plan(send);
    play();
    await work();
    const source = `hand_off/${kind}/${send.sendId}`;
    expect(await suppressed()).toMatchObject({ reason: 'hard_bounce', source });
    expect(await profile()).toMatchObject({ tags: ['hard_bounced'], suppressed: true });
    expect(await sends.read(send.sendId)).toMatchObject({ status: 'rejected' });
    expect(await stand()).toMatchObject({
      status: 'bounced',
      status_reason: 'recipient_refused',
      attempts: 1,
      feedback: [{ kind: 'bounced' }],
    });
    const about = { send_id: send.sendId, automation_id: send.automationId };
    expect(await timeline()).toMatchObject([
      { name: 'email_bounced', properties: { ...about, hand_off: kind, bounce_type: 'hard' } },
      { name: 'email_skipped', properties: { ...about, reason: 'rejected' } },
    ]);
    const { rows } = await database.owner.query(
      'select source, kind, bounce_type, suppresses, reason from feedback.notices where send_id = $1',
      [send.sendId],
    );
    expect(rows).toEqual([
      {
        source: `hand_off/${kind}`,
        kind: 'bounced',
        bounce_type: 'hard',
        suppresses: 'hard_bounce',
        reason: codes,
      },
    ]);
  });
});

test.each([
  ['rcpt', 550, '5.7.1 blocked by policy', 'queued', []],
  ['end', 552, '5.3.4 too big', 'rejected', ['email_skipped']],
  ['end', 550, '5.7.1 mailbox unavailable: 192.0.2.1 is on a block list', 'queued', []],
] as const)(
  'at %s, %i %s suppresses no address: the send is %s',
  async (stage, code, text, ...end) => {
    const [status, events] = end;
    const { send, sends, work, timeline, profile, suppressed } = await toAnn();
    await sends.plan(send);
    sinks.smtp.play(stage, { code, text });
    await work();
    expect(await sends.read(send.sendId)).toMatchObject({ status, bounced_at: null });
    expect(await suppressed()).toBeNull();
    expect(await profile()).toMatchObject({ tags: [], suppressed: false });
    expect((await timeline()).map(({ name }) => name)).toEqual(events);
  },
);

test.each([
  ['behind', -1],
  ['ahead', 1],
])(
  'a worker whose clock is a day %s suppresses whom it hears of after a lift',
  async (_how, days) => {
    const { send, sends, work, suppressed } = await toAnn();
    const key = api.project.server_key;
    await api.call('POST', '/v1/suppressions', { key, body: { email: EMAIL } });
    const lift = { key, body: { reason: 'they asked' } };
    expect((await api.call('POST', `/v1/suppressions/${EMAIL}/lift`, lift)).status).toBe(200);
    await sends.plan(send);
    sinks.smtp.play('rcpt', { code: 550, text: '5.1.1 unknown' });
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + days * 86_400_000 });
    onTestFinished(() => void vi.useRealTimers());
    await work();
    const { handed_off_at: begunAt } = await sends.read(send.sendId);
    expect(await suppressed()).toMatchObject({ reason: 'hard_bounce', suppressed_at: begunAt });
  },
);

describe('a mailbox that is full when the message is handed over', () => {
  const FULL = { code: 552, text: '5.2.2 mailbox full' };

  /** One mail after the other to Ann, each refused or taken. */
  const toFullMailbox = async (softBouncesMax: number) => {
    const ann = await toAnn();
    await ann.sends.within((scope) => writeSoftBouncesMax(scope, softBouncesMax));
    const sendOne = async (isFull: boolean) => {
      const sendId = newId();
      await ann.sends.plan({ ...ann.send, sendId, runId: newId() });
      if (isFull) sinks.smtp.play('rcpt', FULL, { times: 1 });
      await ann.work(sendId);
      await until(
        'it is handed over',
        async () => (await ann.sends.read(sendId)).status === (isFull ? 'rejected' : 'accepted'),
      );
      return sendId;
    };
    return { ...ann, sendOne };
  };

  test('is a soft bounce: so many in a row suppress the address', async () => {
    const { sendOne, suppressed, timeline } = await toFullMailbox(2);
    await sendOne(true);
    expect(await suppressed()).toBeNull();
    const sendId = await sendOne(true);
    const source = `hand_off/smtp/${sendId}`;
    expect(await suppressed()).toMatchObject({ reason: 'soft_bounces', source });
    expect((await timeline()).slice(0, 2)).toMatchObject([
      { name: 'email_bounced', properties: { hand_off: 'smtp', bounce_type: 'soft' } },
      { name: 'email_bounced', properties: { hand_off: 'smtp', bounce_type: 'soft' } },
    ]);
  });

  test('is none in a row with one before a mail that was taken', async () => {
    const { sendOne, suppressed } = await toFullMailbox(2);
    for (const isFull of [true, false, true]) await sendOne(isFull);
    expect(await suppressed()).toBeNull();
  });

  test('counts once, also where a webhook tells it besides', async () => {
    const { sendOne, suppressed, tell } = await toFullMailbox(2);
    const sendId = await sendOne(true);
    await tell(newNotice({ kind: 'bounced', bounceType: 'soft', sendId, occurredAt: new Date() }));
    expect(await suppressed()).toBeNull();
    await sendOne(true);
    expect(await suppressed()).toMatchObject({ reason: 'soft_bounces' });
  });
});

/** A hand-off that has begun, and what may be said of it. */
const begun = async () => {
  const ann = await toAnn();
  await ann.sends.plan(ann.send);
  await ann.sends.claim(ann.send.providerId);
  await ann.sends.begin(ann.send);
  const { sendId } = ann.send;
  const row = { sendId, attempt: 1, outcome: 'rejected', reason: 'recipient_refused' } as const;
  const bounce = {
    sendId,
    attempt: 1,
    email: EMAIL,
    provider: 'smtp',
    type: 'hard',
    codes: '550 5.1.1',
  } as const;
  const said = () =>
    ann.sends.within((scope) =>
      takeBounce(scope, bounce, async ({ tx, projectId }) => {
        const ended = { ...row, providerMessageId: null, retryAfterSeconds: null };
        await stepHandOffs(tx, projectId, [ended], []);
      }),
    );
  // The same, however often the webhook tells it.
  const notice = newNotice({
    kind: 'bounced',
    bounceType: 'hard',
    suppresses: 'hard_bounce',
    sendId,
  });
  const told = () => ann.tell(notice);
  const bouncedTimes = async () =>
    (await ann.timeline()).filter(({ name }) => name === 'email_bounced').length;
  return { ...ann, bounce, said, told, bouncedTimes };
};

describe('with a webhook that tells the same', () => {
  test.each([
    ['before it', ['told', 'said']],
    ['after it', ['said', 'told']],
    ['before and after it, and said twice', ['told', 'said', 'said', 'told']],
  ] as const)('%s the end is the same, and it is on the timeline once', async (_when, order) => {
    const one = await begun();
    for (const step of order) await one[step]();
    expect(await one.suppressed()).toMatchObject({ reason: 'hard_bounce' });
    expect(await one.sends.read(one.send.sendId)).toMatchObject({ status: 'rejected' });
    expect(await one.stand()).toMatchObject({
      status: 'bounced',
      status_reason: 'recipient_refused',
    });
    expect(await one.bouncedTimes()).toBe(1);
  });

  test('at the same moment, it is on the timeline once', async () => {
    const one = await begun();
    await Promise.all([one.said(), one.told(), one.said(), one.told()]);
    expect(await one.sends.read(one.send.sendId)).toMatchObject({ status: 'rejected' });
    expect(await one.bouncedTimes()).toBe(1);
  });

  test('what somebody lifted since stays lifted', async () => {
    const one = await begun();
    await one.said();
    const lifted = await api.call('POST', `/v1/suppressions/${EMAIL}/lift`, {
      key: api.project.server_key,
      body: { reason: 'they asked' },
    });
    expect(lifted.status).toBe(200);
    await one.told();
    expect(await one.suppressed()).toBeNull();
  });
});

test('a refusal of a hand-off that was given up proves nothing of it but itself', async () => {
  const one = await begun();
  await one.sends.within((scope) => settleLost(scope, [OWNER], 3_600));
  await one.said();
  expect(await one.sends.read(one.send.sendId)).toMatchObject({ status: 'not_sent' });
  expect(await one.stand()).toMatchObject({ status: 'bounced', accepted_at: null });
  expect(await one.suppressed()).toMatchObject({ reason: 'hard_bounce' });
});

test('outcome and effect are written together or not at all', async () => {
  const one = await begun();
  const failing = one.sends.within((scope) =>
    takeBounce(scope, one.bounce, () => Promise.reject(new Error('lost'))),
  );
  await expect(failing).rejects.toThrow('lost');
  expect(await one.suppressed()).toBeNull();
  expect(await one.sends.read(one.send.sendId)).toMatchObject({ status: 'handing_off' });
});

test('of somebody who was erased meanwhile nothing comes back, and the address is left alone', async () => {
  const one = await begun();
  const { project_id: projectId, server_key: key } = api.project;
  await eraseNow(database, projectId, one.ann.profileId);
  await one.said();
  const erased = { status: 'rejected', recipient: null, subject: null };
  expect(await one.sends.read(one.send.sendId)).toMatchObject(erased);
  expect(await one.suppressed()).toMatchObject({ reason: 'hard_bounce' });
  const { body } = await api.call('GET', `/v1/suppressions?email=${EMAIL}`, { key });
  expect(body.items).toMatchObject([{ email: null, reason: 'hard_bounce' }]);
  const { rows } = await database.owner.query(
    'select address_key, reason from feedback.notices where project_id = $1',
    [projectId],
  );
  expect(rows).toEqual([{ address_key: null, reason: null }]);
  expect(await one.timeline()).toEqual([]);
  expect((await api.call('GET', `/v1/profiles/${one.ann.profileId}`, { key })).status).toBe(404);
});
