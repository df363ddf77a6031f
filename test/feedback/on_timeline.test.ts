import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { newPerson, tell as tellOf, withSecondIdentity } from '../profiles/people.ts';
import { testDatabase } from '../support/database.ts';
import { workOn } from '../support/work_on.ts';
import { ENGAGEMENTS_MAX } from '../../src/feedback/engagement.ts';
import { at, EMAIL, newNotice, projectTold } from './project_told.ts';

const database = testDatabase();

type Row = {
  name: string;
  external_id: string;
  properties: object;
  occurred_at: Date;
  key_kind: null;
};
const opened = async () => {
  const project = projectTold(database);
  const ann = await newPerson(database, project.projectId);
  await tellOf(database, ann, { traits: { email: EMAIL } });
  const addressKey = await project.keyOf(EMAIL);
  const send = await project.sends.handingOff({
    recipient: EMAIL,
    addressKey,
    profileId: ann.profileId,
  });
  await project.sends.end(send.sendId, 'accepted');
  const timeline = async () =>
    (
      await database.owner.query<Row>(
        `select name, external_id, properties, occurred_at, key_kind from ingest.events
         where project_id = $1 and source = 'system' order by occurred_at, name`,
        [project.projectId],
      )
    ).rows;
  const nameOf = async (identityId: string) =>
    (
      await database.owner.query('select value from identity.identities where identity_id = $1', [
        identityId,
      ])
    ).rows[0].value as string;
  return { ...project, ann, send, timeline, nameOf };
};

test.each([
  ['delivered', 'email_delivered'],
  ['bounced', 'email_bounced'],
  ['complained', 'email_complained'],
  ['unsubscribed', 'email_unsubscribed'],
  ['opened', 'email_opened'],
  ['clicked', 'email_clicked'],
] as const)('%s is on the timeline of whom it was for as %s, once', async (kind, name) => {
  const { tell, ann, send, timeline, nameOf } = await opened();
  const notice = newNotice({ kind, sendId: send.sendId, occurredAt: at(1) });
  for (let times = 0; times < 3; times += 1) await tell(notice);
  expect(await timeline()).toEqual([
    {
      name,
      external_id: await nameOf(ann.identityId),
      properties: { webhook: 'smtp', send_id: send.sendId, automation_id: send.automationId },
      occurred_at: at(1),
      key_kind: null,
    },
  ]);
});

test.each([
  'accepted',
  'deferred',
  'rejected',
  'failed',
  'not_spam',
  'resubscribed',
  'unknown',
] as const)('%s is not', async (kind) => {
  const { tell, send, timeline } = await opened();
  await tell(newNotice({ kind, sendId: send.sendId }));
  expect(await timeline()).toEqual([]);
});

test('a trial run is not, nor what is older than the timeline', async () => {
  const { tell, send, timeline } = await opened();
  const { sendId } = send;
  await tell(newNotice({ sendId, isTest: true }));
  await tell(newNotice({ sendId, occurredAt: new Date('2001-01-01T00:00:00Z') }));
  expect(await timeline()).toEqual([]);
});

test('of mail that is no send of ours everybody with the address is told, and nobody else', async () => {
  const { projectId, tell, ann, timeline, nameOf } = await opened();
  const other = 'bob@example.com';
  const [bob, bobAgain] = [
    await newPerson(database, projectId),
    await newPerson(database, projectId),
  ];
  for (const person of [bob, bobAgain])
    await tellOf(database, person, { traits: { email: other } });
  await withSecondIdentity(database, ann);
  await tell(newNotice({ kind: 'bounced', bounceType: 'hard', email: other }));
  const names = (await timeline()).map(({ external_id }) => external_id);
  expect(names.toSorted()).toEqual(
    [await nameOf(bob.identityId), await nameOf(bobAgain.identityId)].toSorted(),
  );
  await tell(newNotice({ email: 'stranger@example.com' }));
  expect(await timeline()).toHaveLength(2);
});

test('what is on the timeline is processed as any event', async () => {
  const { projectId, tell, send } = await opened();
  await tell(newNotice({ sendId: send.sendId, dedupeKey: newId() }));
  const waiting = () =>
    database.owner.query('select from ingest.pending where project_id = $1', [projectId]);
  expect((await waiting()).rowCount).toBe(1);
  await workOn(database, projectId);
  expect((await waiting()).rowCount).toBe(0);
});

test('of a test’s mail it is on the timeline of whoever has the address, and not of its person', async () => {
  const { projectId, ann, sends, keyOf, tell, timeline, nameOf } = await opened();
  const recipient = 'me@example.com';
  const { sendId } = await sends.handingOff({
    recipient,
    addressKey: await keyOf(recipient),
    profileId: ann.profileId,
    isTest: true,
  });
  await sends.end(sendId, 'accepted');
  await tell(newNotice({ kind: 'bounced', sendId, email: recipient, occurredAt: at(1) }));
  expect(await timeline()).toEqual([]);
  const me = await newPerson(database, projectId);
  await tellOf(database, me, { traits: { email: recipient } });
  await tell(newNotice({ kind: 'complained', sendId, email: recipient, occurredAt: at(2) }));
  expect(await timeline()).toMatchObject([
    {
      name: 'email_complained',
      external_id: await nameOf(me.identityId),
      properties: { webhook: 'smtp' },
    },
  ]);
});

test.each(['opened', 'clicked'] as const)(
  `${ENGAGEMENTS_MAX} times a day an email that is %s is on the timeline, in one post or several`,
  async (kind) => {
    const { tell, send, timeline } = await opened();
    const { sendId } = send;
    const some = (count: number) =>
      Array.from({ length: count }, (_, nth) => newNotice({ kind, sendId, occurredAt: at(nth) }));
    await tell(...some(ENGAGEMENTS_MAX - 1));
    expect(await timeline()).toHaveLength(ENGAGEMENTS_MAX - 1);
    expect(await tell(...some(2))).toMatchObject({ accepted: 2 });
    expect(await timeline()).toHaveLength(ENGAGEMENTS_MAX);
    expect(await tell(...some(1))).toMatchObject({ accepted: 1 });
    expect(await timeline()).toHaveLength(ENGAGEMENTS_MAX);

    // Each kind, each email and each day has room of its own.
    const other = kind === 'opened' ? 'clicked' : 'opened';
    await tell(newNotice({ kind: other, sendId }), newNotice({ kind, sendId: null }));
    expect(await timeline()).toHaveLength(ENGAGEMENTS_MAX + 2);
    await database.owner.query(
      "update feedback.notices set received_at = now() - interval '1 day'",
    );
    await tell(newNotice({ kind, sendId }));
    expect(await timeline()).toHaveLength(ENGAGEMENTS_MAX + 3);
  },
);

test('an event that repeats another is not on the timeline, and an automatic reply neither', async () => {
  const { tell, send, timeline } = await opened();
  const { sendId } = send;
  const bounce = { kind: 'bounced', bounceType: 'hard', sendId } as const;
  await tell(newNotice({ ...bounce, isRepeat: true, suppresses: 'hard_bounce' }));
  await tell(newNotice({ kind: 'auto_reply', sendId }));
  expect(await timeline()).toEqual([]);
  await tell(newNotice(bounce));
  expect(await timeline()).toHaveLength(1);
});
