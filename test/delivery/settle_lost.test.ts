import { describe, expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { settleLost } from '../../src/delivery/delivery.ts';
import { SEND_STATUSES } from '../../src/delivery/queries.ts';
import { testDatabase } from '../support/database.ts';
import { OWNER, sendsOf } from './one_send.ts';

const database = testDatabase();

const opened = () => {
  const sends = sendsOf(database, newId());
  const settle = (dead: string[], silentSeconds = 3_600) =>
    sends.within((scope) => settleLost(scope, dead, silentSeconds));
  return { sends, settle };
};

describe.each(SEND_STATUSES)('a send that is %s', (from) => {
  test('follows the drawing when its owner is dead', async () => {
    const { sends, settle } = opened();
    const { sendId } = await sends.handingOff();
    await sends.update(sendId, `status = '${from}'`);
    expect(await settle([OWNER])).toBe(from === 'handing_off' ? 1 : 0);
    expect((await sends.read(sendId)).status).toBe(from === 'handing_off' ? 'unknown' : from);
  });
});

test('a hand-off of a dead owner ends as unknown, and so does its attempt', async () => {
  const { sends, settle } = opened();
  const { sendId } = await sends.handingOff();
  await settle([OWNER]);
  expect(await sends.read(sendId)).toMatchObject({
    status_reason: 'outcome_unknown',
    lease_owner: null,
    accepted_at: null,
  });
  const { rows } = await database.owner.query(
    'select outcome, reason, ended_at from delivery.attempts where send_id = $1',
    [sendId],
  );
  expect(rows).toEqual([
    { outcome: 'unknown', reason: 'outcome_unknown', ended_at: expect.any(Date) },
  ]);
});

test('a hand-off of a living owner is left alone until it was silent for too long', async () => {
  const { sends, settle } = opened();
  const { sendId } = await sends.handingOff();
  expect(await settle(['worker-2'])).toBe(0);
  await sends.update(sendId, "handed_off_at = now() - interval '59 minutes'");
  expect(await settle([])).toBe(0);
  await sends.update(sendId, "handed_off_at = now() - interval '61 minutes'");
  expect(await settle([])).toBe(1);
  expect(await sends.read(sendId)).toMatchObject({ status: 'unknown' });
});

test('settling twice is as once', async () => {
  const { sends, settle } = opened();
  const { sendId } = await sends.handingOff();
  expect(await settle([OWNER])).toBe(1);
  const before = await sends.read(sendId);
  expect(await settle([OWNER])).toBe(0);
  expect(await sends.read(sendId)).toEqual(before);
});

test('of two sweeps at once, each hand-off is settled by one', async () => {
  const { sends, settle } = opened();
  for (let made = 0; made < 10; made += 1) await sends.handingOff();
  const settled = await Promise.all([settle([OWNER]), settle([OWNER]), settle([OWNER])]);
  expect(settled.reduce((sum, count) => sum + count)).toBe(10);
});

test('another project’s hand-offs are not touched', async () => {
  const { sends } = opened();
  const { sendId } = await sends.handingOff();
  expect(await opened().settle([OWNER])).toBe(0);
  expect(await sends.read(sendId)).toMatchObject({ status: 'handing_off' });
});

test('a lost hand-off that feedback proved is accepted, since when the provider says', async () => {
  const { sends, settle } = opened();
  const { sendId } = await sends.handingOff();
  const at = new Date('2026-01-31T12:00:01.000Z');
  await sends.tell(sendId, 'delivered', at);
  await settle([OWNER]);
  expect(await sends.read(sendId)).toMatchObject({ status: 'accepted', accepted_at: at });
});

test('only the owner’s own, definite answer moves a settled hand-off', async () => {
  const { sends, settle } = opened();
  const { sendId } = await sends.handingOff();
  await settle([OWNER]);
  await sends.end(sendId, 'deferred');
  expect(await sends.read(sendId)).toMatchObject({ status: 'not_sent' });
});

test('an owner that wakes late and knows that it did not begin puts the send back', async () => {
  const { sends, settle } = opened();
  const { sendId } = await sends.handingOff();
  await settle([OWNER]);
  await sends.end(sendId, 'not_started');
  expect(await sends.read(sendId)).toMatchObject({ status: 'queued' });
});
