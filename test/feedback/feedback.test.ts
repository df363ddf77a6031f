import { describe, expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { record } from '../../src/feedback/feedback.ts';
import { smtp as generic } from '../../src/feedback/dialects/smtp/smtp.ts';
import type { Notice } from '../../src/feedback/notice.ts';
import { addressKey, isOnList } from '../../src/suppression/suppression.ts';
import { permutationsOf } from '../base/connections.ts';
import { newSend, sendsOf } from '../delivery/one_send.ts';
import { newPerson, profileOf, tell } from '../profiles/people.ts';
import { testDatabase } from '../support/database.ts';
import { EMAIL, newNotice as noticeOf } from './project_told.ts';

const database = testDatabase();

const soon = () => new Date(Date.now() + 1_000);
const newNotice = (given: Partial<Notice> = {}): Notice =>
  noticeOf({ occurredAt: soon(), ...given });
const hardBounce = (given: Partial<Notice> = {}) =>
  newNotice({ kind: 'bounced', bounceType: 'hard', ...given });

/** A project with a send to EMAIL that a provider has accepted. */
const opened = async (email = EMAIL) => {
  const projectId = newId();
  const sends = sendsOf(database, projectId);
  const within = sends.within;
  const key = (to: string) => within((scope) => Promise.resolve(addressKey(scope, to)));
  const accepted = async (to = email, providerMessageId: string | null = null) => {
    const send = await sends.handingOff({ recipient: to, addressKey: await key(to) });
    await sends.end(send.sendId, 'accepted', { providerMessageId });
    return send.sendId;
  };
  const told = (...notices: Notice[]) => within((scope) => record(scope, 'smtp', notices));
  const isSuppressed = (to = email) => within((scope) => isOnList(scope, to));
  const notices = async () =>
    (
      await database.owner.query(
        'select kind, send_id from feedback.notices where project_id = $1',
        [projectId],
      )
    ).rows;
  return { projectId, sends, accepted, told, isSuppressed, notices, key };
};

const person = async (projectId: string, email: string) => {
  const someone = await newPerson(database, projectId);
  await tell(database, someone, { traits: { email } });
  return someone;
};

describe('effects', () => {
  test('a hard bounce suppresses the address, tags its people and is a fact of the send', async () => {
    const { projectId, sends, accepted, told, isSuppressed } = await opened();
    const [ann, other] = [
      await person(projectId, 'Ann@Example.com'),
      await person(projectId, 'bob@example.com'),
    ];
    const sendId = await accepted();
    const at = soon();
    expect(await told(hardBounce({ sendId, occurredAt: at }))).toEqual({
      accepted: 1,
      duplicates: 0,
      ignored: 0,
    });
    expect(await isSuppressed()).toBe(true);
    expect((await profileOf(database, ann)).tags).toEqual(['hard_bounced']);
    expect((await profileOf(database, other)).tags).toEqual([]);
    expect(await sends.read(sendId)).toMatchObject({ status: 'accepted', bounced_at: at });
  });

  test('tags stand in one order, whichever came first', async () => {
    const complaint = () => newNotice({ kind: 'complained' });
    for (const notices of [
      [hardBounce(), complaint()],
      [complaint(), hardBounce()],
    ]) {
      const { projectId, told } = await opened();
      const ann = await person(projectId, EMAIL);
      for (const notice of notices) await told(notice);
      expect((await profileOf(database, ann)).tags).toEqual(['complained', 'hard_bounced']);
    }
  });

  test('a complaint suppresses, tags and is a fact', async () => {
    const { projectId, sends, accepted, told, isSuppressed } = await opened();
    const ann = await person(projectId, EMAIL);
    const sendId = await accepted();
    await told(newNotice({ kind: 'complained', sendId }));
    expect(await isSuppressed()).toBe(true);
    expect((await profileOf(database, ann)).tags).toEqual(['complained']);
    expect(await sends.read(sendId)).toMatchObject({ complained_at: expect.any(Date) });
  });

  test.each(['soft', 'block', null] as const)(
    'a bounce that is %s suppresses nobody',
    async (bounceType) => {
      const { projectId, accepted, told, isSuppressed } = await opened();
      const ann = await person(projectId, EMAIL);
      const sendId = await accepted();
      expect(await told(newNotice({ kind: 'bounced', bounceType, sendId }))).toMatchObject({
        accepted: 1,
      });
      expect(await isSuppressed()).toBe(false);
      expect((await profileOf(database, ann)).tags).toEqual([]);
    },
  );

  test.each(['accepted', 'deferred', 'rejected', 'failed', 'not_spam', 'unknown'] as const)(
    '%s is kept and does nothing',
    async (kind) => {
      const { sends, accepted, told, isSuppressed, notices } = await opened();
      const sendId = await accepted();
      const before = await sends.read(sendId);
      expect(await told(newNotice({ kind, sendId }))).toEqual({
        accepted: 0,
        duplicates: 0,
        ignored: 1,
      });
      expect(await isSuppressed()).toBe(false);
      const after = { ...(await sends.read(sendId)), taken_at: null };
      expect(after).toEqual(before);
      expect(await notices()).toEqual([{ kind, send_id: sendId }]);
    },
  );

  test('an address nobody has is suppressed all the same, without making anybody', async () => {
    const { projectId, told, isSuppressed } = await opened();
    await told(hardBounce({ email: 'stranger@example.com' }));
    expect(await isSuppressed('STRANGER@example.com')).toBe(true);
    const { rowCount } = await database.owner.query(
      'select from profiles.profiles where project_id = $1',
      [projectId],
    );
    expect(rowCount).toBe(0);
  });

  test('feedback touches its own project alone', async () => {
    const [ours, theirs] = [await opened(), await opened()];
    const sendId = await theirs.accepted();
    await ours.told(hardBounce({ sendId }));
    expect(await theirs.isSuppressed()).toBe(false);
    expect(await theirs.sends.read(sendId)).toMatchObject({ bounced_at: null });
    expect(await ours.isSuppressed()).toBe(true);
  });
});

describe('repeats', () => {
  test('the same notice again is a duplicate and does nothing more', async () => {
    const { projectId, told } = await opened();
    const notice = hardBounce();
    await told(notice);
    expect(await told(notice, notice)).toEqual({ accepted: 0, duplicates: 2, ignored: 0 });
    const { rowCount } = await database.owner.query(
      'select from suppression.history where project_id = $1',
      [projectId],
    );
    expect(rowCount).toBe(1);
  });

  test('one notice told ten times at once takes effect once', async () => {
    const { projectId, told } = await opened();
    const notice = hardBounce();
    const answers = await Promise.all(Array.from({ length: 10 }, () => told(notice)));
    expect(answers.reduce((sum, { accepted }) => sum + accepted, 0)).toBe(1);
    const { rowCount } = await database.owner.query(
      'select from suppression.history where project_id = $1',
      [projectId],
    );
    expect(rowCount).toBe(1);
  });

  test('webhooks at once with the same addresses in opposite orders do not deadlock', async () => {
    const { told, isSuppressed } = await opened();
    const emails = Array.from({ length: 30 }, (_, at) => `person-${at}@example.com`);
    const bounces = (order: string[]) => order.map((email) => hardBounce({ email }));
    await Promise.all(
      [1, 2, 3, 4].map((at) => told(...bounces(at % 2 === 0 ? emails : emails.toReversed()))),
    );
    for (const email of emails) expect(await isSuppressed(email)).toBe(true);
  });

  test('the same notices in any order end in the same send and the same list', async () => {
    const ends: unknown[] = [];
    const at = (ms: number) => new Date(Date.now() + ms);
    const all = [
      newNotice({ occurredAt: at(100) }),
      hardBounce({ occurredAt: at(200) }),
      newNotice({ kind: 'complained', occurredAt: at(300) }),
    ];
    for (const order of permutationsOf(all)) {
      const { projectId, sends, accepted, told } = await opened();
      const sendId = await accepted();
      for (const notice of [...order, ...order]) await told({ ...notice, sendId });
      const { status, delivered_at, bounced_at, complained_at } = await sends.read(sendId);
      const { rows } = await database.owner.query(
        'select reason from suppression.addresses where project_id = $1',
        [projectId],
      );
      ends.push({ status, delivered_at, bounced_at, complained_at, rows });
    }
    for (const end of ends) expect(end).toEqual(ends[0]);
  });
});

describe('which send a notice is about', () => {
  const isFactOf = async ({ sends }: Awaited<ReturnType<typeof opened>>, sendId: string) =>
    (await sends.read(sendId)).delivered_at !== null;

  type Way = [string, (sendId: string) => Partial<Notice>];
  const byId: Way[] = [
    ['our send id', (sendId) => ({ sendId })],
    ['our Message-ID', (sendId) => ({ messageIds: [`<${sendId}.1@example.com>`] })],
    ['our Message-ID without brackets', (sendId) => ({ messageIds: [`${sendId}.1@example.com`] })],
    ['the provider’s id', () => ({ messageIds: ['relay-1'] })],
    ['the provider’s id in brackets', () => ({ messageIds: ['<relay-1>'] })],
    [
      'its message id, where the send id is a stranger’s',
      () => ({ sendId: newId(), messageIds: ['relay-1'] }),
    ],
  ];
  const byTime: Way[] = [
    ['its address and time', () => ({})],
    [
      'its address and time, where the message id says nothing',
      () => ({ messageIds: ['relay-9'] }),
    ],
    [
      'its address and time, where the Message-ID only looks like ours',
      () => ({ messageIds: [`<${newId()}.1@other.example>`] }),
    ],
  ];

  test.each(byId)('is found by %s, before a newer one to the address', async (_way, trace) => {
    const project = await opened();
    const older = await project.accepted(EMAIL, 'relay-1');
    const newer = await project.accepted(EMAIL, 'relay-2');
    await project.told(newNotice(trace(older)));
    expect([await isFactOf(project, older), await isFactOf(project, newer)]).toEqual([true, false]);
  });

  test.each(byTime)('is found by %s', async (_way, trace) => {
    const project = await opened();
    const sendId = await project.accepted(EMAIL, 'relay-1');
    await project.told(newNotice(trace(sendId)));
    expect(await isFactOf(project, sendId)).toBe(true);
  });

  test('is the newest of several to the address before the notice', async () => {
    const project = await opened();
    const [first, second] = [await project.accepted(), await project.accepted()];
    await project.sends.update(first, "handed_off_at = now() - interval '2 hours'");
    await project.told(newNotice());
    expect([await isFactOf(project, first), await isFactOf(project, second)]).toEqual([
      false,
      true,
    ]);
    await project.told(newNotice({ occurredAt: new Date(Date.now() - 3_600_000) }));
    expect(await isFactOf(project, first)).toBe(true);
  });

  test('is none that was handed over more than a week before, or after the notice', async () => {
    const project = await opened();
    const sendId = await project.accepted();
    await project.sends.update(sendId, "handed_off_at = now() - interval '8 days'");
    await project.told(newNotice());
    await project.told(newNotice({ occurredAt: new Date(Date.now() - 9 * 86_400_000) }));
    expect(await isFactOf(project, sendId)).toBe(false);
  });

  test('is none that was never handed over', async () => {
    const project = await opened();
    const send = newSend({ recipient: EMAIL, addressKey: await project.key(EMAIL) });
    await project.sends.plan(send);
    await project.told(newNotice());
    expect(await isFactOf(project, send.sendId)).toBe(false);
  });

  test('a notice for another address than the send’s is no fact of it, but counts for that address', async () => {
    const project = await opened();
    const sendId = await project.accepted();
    await project.told(hardBounce({ sendId, email: 'forwarded@example.com' }));
    expect(await project.sends.read(sendId)).toMatchObject({ bounced_at: null });
    expect(await project.isSuppressed()).toBe(false);
    expect(await project.isSuppressed('forwarded@example.com')).toBe(true);
    expect(await project.notices()).toEqual([{ kind: 'bounced', send_id: null }]);
  });

  test('feedback about a hand-off whose outcome nobody knows proves that it was taken', async () => {
    const project = await opened();
    const { sendId } = await project.sends.handingOff({
      recipient: EMAIL,
      addressKey: await project.key(EMAIL),
    });
    await project.sends.end(sendId, 'unknown');
    await project.told(newNotice({ sendId }));
    expect(await project.sends.read(sendId)).toMatchObject({ status: 'accepted' });
  });
});

test.each([
  ['a Message-ID of dashes', { message_id: `<${'-'.repeat(36)}.1@x.example>` }],
  ['U+0000 in its reason', { reason: 'a\0b' }],
  ['U+0000 in its message id', { message_id: 'a\0b' }],
  ['U+0000 in its own id', { event_id: 'a\0b' }],
  ['a time before the calendar', { occurred_at: -8_640_000_000_000 }],
  ['half a character in its reason', { reason: '\ud800' }],
])('a notice with %s does not cost its neighbours their effect', async (_what, odd) => {
  const { projectId, isSuppressed } = await opened();
  const body = [
    { event: 'delivered', recipient: 'aaa@example.com', ...odd },
    { event: 'hard_bounce', recipient: EMAIL },
  ];
  const { notices } = generic.read({
    raw: Buffer.from(JSON.stringify(body)),
    contentType: 'application/json',
    receivedAt: new Date(),
  });
  await inProject(database.deps, projectId, (scope) => record(scope, 'smtp', notices));
  expect(await isSuppressed()).toBe(true);
});
