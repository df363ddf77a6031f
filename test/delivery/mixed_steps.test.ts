import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { stepHandOffs } from '../../src/delivery/hand_off_queries.ts';
import type { HandOff, OutcomeRow } from '../../src/delivery/hand_off_queries.ts';
import type { NewSend } from '../../src/delivery/queries.ts';
import { testDatabase } from '../support/database.ts';
import { newSend, OWNER, sendsOf, suppressUncommitted, unresolved } from './one_send.ts';

const database = testDatabase();

const begun = ({ sendId, addressKey }: NewSend, attempt = 1): HandOff => {
  const messageId = `<${sendId}.${attempt}@x.test>`;
  const subject = `Attempt ${attempt}`;
  return { sendId, addressKey, owner: OWNER, attempt, messageId, subject, sentThrough: 'other' };
};

const ended = (
  { sendId }: NewSend,
  outcome: OutcomeRow['outcome'],
  given: Partial<OutcomeRow> = {},
): OutcomeRow => {
  const defaults = { attempt: 1, reason: null, providerMessageId: null, retryAfterSeconds: null };
  return { ...defaults, sendId, outcome, ...given };
};

const attemptsOf = async ({ sendId }: NewSend) =>
  (
    await database.owner.query<{ attempt: number; outcome: string | null }>(
      'select attempt, outcome from delivery.attempts where send_id = $1 order by attempt',
      [sendId],
    )
  ).rows;

/** A send whose first hand-off may have been taken, leased to be handed over again. */
const leasedAgain = async (projectId = newId()) => {
  const made = await unresolved(database, {}, projectId);
  await made.sends.claim(made.send.providerId);
  const step = async (outcomes: OutcomeRow[], begins: HandOff[]) =>
    (await stepHandOffs(database.deps.db, projectId, outcomes, begins)).get(made.send.sendId);
  return { ...made, step };
};

test('what turns out to be taken in the step in which it would begin again does not begin', async () => {
  const { sends, send, step } = await leasedAgain();
  const late = ended(send, 'accepted', { providerMessageId: 'relay-1' });
  expect(await step([late], [begun(send, 2)])).toBe('lost');
  expect(await sends.read(send.sendId)).toMatchObject({
    status: 'accepted',
    attempt_count: 1,
    provider_message_id: 'relay-1',
    lease_owner: null,
  });
  expect(await attemptsOf(send)).toEqual([{ attempt: 1, outcome: 'accepted' }]);
});

test.each(['rejected', 'deferred', 'not_started', 'unknown'] as const)(
  'what turns out to be %s begins again in the same step',
  async (outcome) => {
    const { sends, send, step } = await leasedAgain();
    expect(await step([ended(send, outcome)], [begun(send, 2)])).toBe('handing_off');
    expect(await sends.read(send.sendId)).toMatchObject({
      status: 'handing_off',
      attempt_count: 2,
      subject: 'Attempt 2',
      lease_owner: OWNER,
    });
    expect(await attemptsOf(send)).toEqual([
      { attempt: 1, outcome },
      { attempt: 2, outcome: null },
    ]);
  },
);

test.each([
  ['rejected', 'suppressed'],
  ['unknown', 'unknown'],
] as const)(
  'one that must not begin is asked what its first attempt, %s in the same step, came to',
  async (outcome, leads) => {
    const { projectId, sends, send, step } = await leasedAgain();
    const suppressing = await suppressUncommitted(database, projectId, send.addressKey);
    await suppressing.query('commit');
    expect(await step([ended(send, outcome)], [begun(send, 2)])).toBe(leads);
    expect(await sends.read(send.sendId)).toMatchObject({
      status: leads,
      status_reason: 'suppressed',
      attempt_count: 1,
      lease_owner: null,
    });
  },
);

test('an attempt that ends leaves no lease by which the next could begin in the same step', async () => {
  const projectId = newId();
  const sends = sendsOf(database, projectId);
  const send = await sends.handingOff();
  const outcomes = [ended(send, 'deferred', { retryAfterSeconds: 0 })];
  const decisions = await stepHandOffs(database.deps.db, projectId, outcomes, [begun(send, 2)]);
  expect(decisions.get(send.sendId)).toBe('lost');
  expect(await sends.read(send.sendId)).toMatchObject({ status: 'queued', attempt_count: 1 });
});

test('one step ends, refuses, loses and begins, and notes those that are over', async () => {
  const projectId = newId();
  const sends = sendsOf(database, projectId);
  const providerId = newId();
  const all = Array.from({ length: 7 }, () => newSend({ providerId }));
  const [taken, refused, deferred, lostEnd, fresh, stopped, lost] = all as [
    NewSend,
    NewSend,
    NewSend,
    NewSend,
    NewSend,
    NewSend,
    NewSend,
  ];
  for (const send of all) await sends.plan(send);
  await sends.claim(providerId);
  for (const send of [taken, refused, deferred, lostEnd]) await sends.begin(send);
  const { send: twice } = await leasedAgain(projectId);
  await sends.begin(twice, OWNER, 2);
  await sends.update(lostEnd.sendId, "status = 'not_sent', status_reason = 'resolved'");
  await sends.update(lost.sendId, "lease_owner = 'another'");
  const suppressing = await suppressUncommitted(database, projectId, stopped.addressKey);
  await suppressing.query('commit');
  await database.owner.query('delete from delivery.ended where project_id = $1', [projectId]);

  const decisions = await stepHandOffs(
    database.deps.db,
    projectId,
    [
      ended(taken, 'accepted', { providerMessageId: 'relay-1' }),
      ended(refused, 'rejected', { reason: 'refused' }),
      ended(deferred, 'deferred', { reason: 'throttled', retryAfterSeconds: 600 }),
      ended(lostEnd, 'accepted'),
      ended(twice, 'accepted'),
    ],
    [begun(lost), begun(stopped), begun(fresh)],
  );
  expect(decisions).toEqual(
    new Map([
      [lost.sendId, 'lost'],
      [stopped.sendId, 'suppressed'],
      [fresh.sendId, 'handing_off'],
    ]),
  );
  const states = await Promise.all([...all, twice].map(({ sendId }) => sends.read(sendId)));
  expect(
    states.map(({ status, status_reason, attempt_count, lease_owner }) => [
      status,
      status_reason,
      attempt_count,
      lease_owner,
    ]),
  ).toEqual([
    ['accepted', null, 1, null],
    ['rejected', 'refused', 1, null],
    ['queued', 'throttled', 1, null],
    ['not_sent', 'resolved', 1, OWNER],
    ['handing_off', null, 1, OWNER],
    ['suppressed', 'suppressed', 0, null],
    ['queued', null, 0, 'another'],
    ['handing_off', null, 2, OWNER],
  ]);
  expect(states.map(({ accepted_at }) => accepted_at !== null)).toEqual([
    true,
    ...Array<boolean>(6).fill(false),
    true,
  ]);
  const { rows } = await database.owner.query<{ send_ids: string[] }>(
    'select send_ids from delivery.ended where project_id = $1',
    [projectId],
  );
  expect(rows.map(({ send_ids }) => send_ids.toSorted())).toEqual([
    [taken, refused, stopped].map(({ sendId }) => sendId).toSorted(),
  ]);
  expect(await attemptsOf(twice)).toEqual([
    { attempt: 1, outcome: 'accepted' },
    { attempt: 2, outcome: null },
  ]);
});
