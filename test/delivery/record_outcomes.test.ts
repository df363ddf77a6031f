import { describe, expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { settleLost } from '../../src/delivery/delivery.ts';
import { SEND_STATUSES } from '../../src/delivery/queries.ts';
import { testDatabase } from '../support/database.ts';
import { resendUnknown } from '../../src/delivery/wait_queries.ts';
import { OWNER, sendsOf, unresolved } from './one_send.ts';

const database = testDatabase();

type Status = (typeof SEND_STATUSES)[number];
const OUTCOMES = ['accepted', 'rejected', 'deferred', 'not_started', 'unknown'] as const;
type Outcome = (typeof OUTCOMES)[number];

/** Where each outcome leads from a hand-off in flight. */
const FROM_HANDING_OFF: Record<Outcome, Status> = {
  accepted: 'accepted',
  rejected: 'rejected',
  deferred: 'queued',
  not_started: 'queued',
  unknown: 'unknown',
};
/** From unknown there is no way to rejected: what was definitely not taken is not_sent. */
const FROM_UNKNOWN: Record<Outcome, Status> = {
  accepted: 'accepted',
  rejected: 'not_sent',
  deferred: 'not_sent',
  not_started: 'queued',
  unknown: 'unknown',
};

const expected = (from: Status, outcome: Outcome): Status => {
  if (from === 'handing_off') return FROM_HANDING_OFF[outcome];
  // Given up, and queued again: its owner was late, and knows better.
  if (from === 'queued' && outcome === 'accepted') return 'accepted';
  return from === 'unknown' ? FROM_UNKNOWN[outcome] : from;
};

const attemptOf = async (sendId: string) =>
  (
    await database.owner.query(
      'select outcome, reason, provider_message_id, ended_at from delivery.attempts where send_id = $1',
      [sendId],
    )
  ).rows[0];

describe.each(SEND_STATUSES)('a send that is %s', (from) => {
  test.each(OUTCOMES)('follows the drawing when its attempt was %s', async (outcome) => {
    const sends = sendsOf(database, newId());
    const { sendId } = await sends.handingOff();
    await sends.update(sendId, `status = '${from}'`);
    await sends.end(sendId, outcome);
    expect((await sends.read(sendId)).status).toBe(expected(from, outcome));
  });
});

/** The same of which an earlier hand-off may have been taken: no later one that was not is an end. */
const OF_UNRESOLVED: [Status, Record<Outcome, Status>][] = [
  ['handing_off', { ...FROM_HANDING_OFF, rejected: 'unknown' }],
  ['unknown', { ...FROM_UNKNOWN, rejected: 'unknown', deferred: 'queued' }],
];

describe.each(OF_UNRESOLVED)('a send that is %s for the second time', (from, leads) => {
  test.each(OUTCOMES)('follows the drawing when its attempt was %s', async (outcome) => {
    const { sends, send } = await unresolved(database);
    await sends.claim(send.providerId);
    expect(await sends.begin(send, OWNER, 2)).toBe('handing_off');
    await sends.update(send.sendId, `status = '${from}'`);
    await sends.end(send.sendId, outcome, { attempt: 2, retryAfterSeconds: 600 });
    expect((await sends.read(send.sendId)).status).toBe(leads[outcome]);
    if (outcome === 'rejected') {
      await sends.within((scope) => resendUnknown(scope, send.providerId));
      expect((await sends.read(send.sendId)).status).toBe('unknown');
    }
  });
});

test('what was told of the first hand-off proves it, also when the second was refused', async () => {
  const { sends, send } = await unresolved(database);
  await sends.claim(send.providerId);
  await sends.begin(send, OWNER, 2);
  await sends.tell(send.sendId, 'delivered', new Date());
  await sends.end(send.sendId, 'rejected', { attempt: 2 });
  expect(await sends.read(send.sendId)).toMatchObject({
    status: 'accepted',
    status_reason: 'outcome_unknown',
    accepted_at: expect.any(Date),
  });
  const earlier = new Date('2026-01-31T12:00:01.000Z');
  await sends.tell(send.sendId, 'complained', earlier);
  expect(await sends.read(send.sendId)).toMatchObject({ accepted_at: earlier });
});

test('an accepted send says when, and what the provider calls it', async () => {
  const sends = sendsOf(database, newId());
  const { sendId } = await sends.handingOff();
  await sends.end(sendId, 'accepted', { providerMessageId: 'relay-1' });
  expect(await sends.read(sendId)).toMatchObject({
    status_reason: null,
    accepted_at: expect.any(Date),
    provider_message_id: 'relay-1',
    lease_owner: null,
  });
  expect(await attemptOf(sendId)).toMatchObject({
    outcome: 'accepted',
    provider_message_id: 'relay-1',
    ended_at: expect.any(Date),
  });
});

test('a deferred send is due again after its wait, by the clock of the database', async () => {
  const sends = sendsOf(database, newId());
  const send = await sends.handingOff();
  await sends.end(send.sendId, 'deferred', { reason: 'throttled', retryAfterSeconds: 600 });
  const { rows } = await database.owner.query(
    `select status, status_reason, due_at - now() between interval '9 minutes' and interval '601 seconds' as waits
    from delivery.sends where send_id = $1`,
    [send.sendId],
  );
  expect(rows).toEqual([{ status: 'queued', status_reason: 'throttled', waits: true }]);
  expect(await sends.claim(send.providerId)).toEqual([]);
});

test('the next attempt after a deferral is a new one, on record beside the first', async () => {
  const sends = sendsOf(database, newId());
  const send = await sends.handingOff();
  await sends.end(send.sendId, 'deferred', { retryAfterSeconds: 0 });
  await sends.update(send.sendId, "due_at = now() - interval '1 second'");
  expect(await sends.claim(send.providerId)).toMatchObject([{ attempt: 2 }]);
  expect(await sends.begin(send, OWNER, 2)).toBe('handing_off');
  await sends.end(send.sendId, 'accepted', { attempt: 2 });
  const { rows } = await database.owner.query(
    'select attempt, outcome from delivery.attempts where send_id = $1 order by attempt',
    [send.sendId],
  );
  expect(rows).toEqual([
    { attempt: 1, outcome: 'deferred' },
    { attempt: 2, outcome: 'accepted' },
  ]);
});

test.each(OUTCOMES)(
  'an earlier attempt that was %s does not move a send that is handed over again',
  async (outcome) => {
    const { projectId, sends, send } = await unresolved(database);
    await sends.claim(send.providerId);
    await sends.begin(send, OWNER, 2);
    await sends.end(send.sendId, outcome, {
      reason: outcome === 'accepted' ? null : 'late',
      retryAfterSeconds: 0,
    });
    expect(await sends.read(send.sendId)).toMatchObject({
      status: 'handing_off',
      status_reason: null,
      lease_owner: OWNER,
      accepted_at: outcome === 'accepted' ? expect.any(Date) : null,
    });
    const { rows } = await database.owner.query(
      'select from delivery.ended where project_id = $1 and $2 = any (send_ids)',
      [projectId, send.sendId],
    );
    expect(rows).toEqual([]);
  },
);

test('an outcome that comes after the end changes nothing of the attempt on record', async () => {
  const sends = sendsOf(database, newId());
  const { sendId } = await sends.handingOff();
  await sends.end(sendId, 'accepted', { providerMessageId: 'relay-1' });
  const before = await attemptOf(sendId);
  await sends.end(sendId, 'deferred', { reason: 'throttled' });
  expect(await sends.read(sendId)).toMatchObject({ status: 'accepted', status_reason: null });
  expect(await attemptOf(sendId)).toEqual(before);
});

test('an outcome nobody knows is refused and nothing is written', async () => {
  const sends = sendsOf(database, newId());
  const { sendId } = await sends.handingOff();
  await expect(sends.end(sendId, 'lucky' as 'accepted')).rejects.toThrow();
  expect(await sends.read(sendId)).toMatchObject({ status: 'handing_off' });
});

test('another project’s outcome does not reach the send', async () => {
  const sends = sendsOf(database, newId());
  const { sendId } = await sends.handingOff();
  await sendsOf(database, newId()).end(sendId, 'accepted');
  expect(await sends.read(sendId)).toMatchObject({ status: 'handing_off' });
});

describe.each(['delivered', 'bounced', 'complained'] as const)(
  'feedback said %s while the hand-off was in flight',
  (fact) => {
    test('an outcome we never learn is accepted, since when the provider says', async () => {
      const sends = sendsOf(database, newId());
      const { sendId } = await sends.handingOff();
      const at = new Date('2026-01-31T12:00:01.000Z');
      await sends.tell(sendId, fact, at);
      expect(await sends.read(sendId)).toMatchObject({ status: 'handing_off' });
      await sends.end(sendId, 'unknown', { reason: 'outcome_unknown' });
      expect(await sends.read(sendId)).toMatchObject({
        status: 'accepted',
        accepted_at: at,
        [`${fact}_at`]: at,
      });
    });
  },
);

test('a deferred send that feedback proved taken is not handed to a provider again', async () => {
  const sends = sendsOf(database, newId());
  const { sendId } = await sends.handingOff();
  await sends.tell(sendId, 'delivered', new Date('2026-01-31T12:00:01.000Z'));
  await sends.end(sendId, 'deferred', { retryAfterSeconds: 0 });
  expect((await sends.read(sendId)).status).not.toBe('queued');
});

test('of a late outcome and a sweep at once, the send ends where the drawing allows', async () => {
  const sends = sendsOf(database, newId());
  for (let round = 0; round < 10; round += 1) {
    const { sendId } = await sends.handingOff();
    await Promise.all([
      sends.end(sendId, 'accepted'),
      sends.within((scope) => settleLost(scope, [OWNER], 3_600)),
    ]);
    expect(await sends.read(sendId)).toMatchObject({ status: 'accepted', lease_owner: null });
  }
});
