import { expect, test } from 'vitest';
import { TRIAL } from '../support/recorded.ts';
import { newId } from '../../src/base/ids.ts';
import type { NewSend } from '../../src/delivery/queries.ts';
import { changeSubscription, suppressAddress } from '../../src/suppression/change_queries.ts';
import { connectTo, isSettled, untilWaiting } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';
import {
  OWNER,
  addressKeyOf,
  beginOver,
  newSend,
  sendsOf,
  suppressUncommitted,
} from './one_send.ts';

const database = testDatabase();

const leased = async (projectId = newId(), leaseSeconds = 60, given: Partial<NewSend> = {}) => {
  const sends = sendsOf(database, projectId);
  const send = newSend(given);
  await sends.plan(send);
  await sends.claim(send.providerId, { leaseSeconds });
  const suppress = () =>
    sends.within((scope) =>
      suppressAddress(scope, {
        addressKey: send.addressKey,
        email: send.recipient,
        historyId: newId(),
        reason: 'complaint',
        source: 'test',
      }),
    );
  return { projectId, sends, send, suppress };
};

const attemptsOf = async (sendId: string) =>
  (
    await database.owner.query(
      'select attempt, message_id, lease_owner, outcome, sent_through from delivery.attempts where send_id = $1',
      [sendId],
    )
  ).rows;

test('a leased send is handed off once, and the attempt is on record', async () => {
  const { sends, send } = await leased();
  expect(await sends.begin(send)).toBe('handing_off');
  expect(await sends.read(send.sendId)).toMatchObject({
    status: 'handing_off',
    attempt_count: 1,
    subject: 'Welcome',
  });
  expect(await attemptsOf(send.sendId)).toEqual([
    {
      attempt: 1,
      message_id: `<${send.sendId}.1@example.com>`,
      lease_owner: OWNER,
      outcome: null,
      sent_through: 'other',
    },
  ]);
  expect(await sends.begin(send)).toBe('lost');
});

test('of two hand-offs of one attempt at once, one wins', async () => {
  const { sends, send } = await leased();
  const decisions = await Promise.all(Array.from({ length: 6 }, () => sends.begin(send)));
  expect(decisions.toSorted()).toEqual(['handing_off', ...Array<string>(5).fill('lost')]);
  expect(await attemptsOf(send.sendId)).toHaveLength(1);
});

test('a send is lost to whoever has no lease on it', async () => {
  const { sends, send } = await leased();
  expect(await sends.begin(send, 'worker-2')).toBe('lost');
  expect(await sends.begin(send, OWNER, 2)).toBe('lost');
  expect(await sends.begin({ ...send, sendId: newId() })).toBe('lost');
  expect(await sends.read(send.sendId)).toMatchObject({ status: 'queued', attempt_count: 0 });
});

test('a send whose lease has run out is lost, even when nobody else has it', async () => {
  const { sends, send } = await leased();
  await sends.update(send.sendId, "lease_until = now() - interval '1 second'");
  expect(await sends.begin(send)).toBe('lost');
  expect(await sends.read(send.sendId)).toMatchObject({ status: 'queued', attempt_count: 0 });
});

test('a lease that runs out while the hand-off waits for the address is lost', async () => {
  const { projectId, sends, send } = await leased();
  const holder = await connectTo(database, projectId);
  await holder.query('begin');
  await holder.query(
    `select from suppression.addresses where address_key = $1 for update ${TRIAL}`,
    [send.addressKey],
  );
  const beginning = sends.begin(send);
  await untilWaiting(database);
  await sends.update(send.sendId, "lease_until = clock_timestamp() - interval '1 ms'");
  await holder.query('commit');
  expect(await beginning).toBe('lost');
});

test('another project cannot hand off the send', async () => {
  const { send } = await leased();
  const other = sendsOf(database, newId());
  const twin = newSend({ addressKey: send.addressKey, recipient: send.recipient });
  await other.plan(twin);
  expect(await other.begin(send)).toBe('lost');
});

test.each(['handing_off', 'accepted', 'rejected', 'unknown', 'not_sent', 'cancelled', 'expired'])(
  'a send that is %s is not begun again',
  async (status) => {
    const { sends, send } = await leased();
    await sends.update(send.sendId, `status = '${status}'`);
    expect(await sends.begin(send)).toBe('lost');
    expect(await sends.read(send.sendId)).toMatchObject({ status });
  },
);

test('a suppressed address ends the send before anything is begun', async () => {
  const { sends, send, suppress } = await leased();
  await suppress();
  expect(await sends.begin(send)).toBe('suppressed');
  expect(await sends.read(send.sendId)).toMatchObject({
    status: 'suppressed',
    status_reason: 'suppressed',
  });
  expect(await attemptsOf(send.sendId)).toEqual([]);
});

test('an unsubscribe after planning ends marketing mail before anything is begun, and no other', async () => {
  for (const category of ['marketing', 'transactional'] as const) {
    const { sends, send } = await leased(newId(), 60, { category });
    await sends.within((scope) =>
      changeSubscription(scope, {
        addressKey: send.addressKey,
        email: send.recipient,
        historyId: newId(),
        change: 'unsubscribed',
        source: 'test',
        at: null,
      }),
    );
    const isStopped = category === 'marketing';
    expect(await sends.begin(send)).toBe(isStopped ? 'suppressed' : 'handing_off');
    expect(await sends.read(send.sendId)).toMatchObject(
      isStopped
        ? { status: 'suppressed', status_reason: 'unsubscribed', attempt_count: 0 }
        : { status: 'handing_off', status_reason: null, attempt_count: 1 },
    );
  }
});

test('a send past its expiry ends before anything is begun', async () => {
  const { sends, send } = await leased();
  await sends.update(send.sendId, "expires_at = now() - interval '1 second'");
  expect(await sends.begin(send)).toBe('expired');
  expect(await attemptsOf(send.sendId)).toEqual([]);
});

test('a send that ends without a hand-off counts no attempt and is claimed by nobody', async () => {
  const { sends, send, suppress } = await leased();
  await suppress();
  await sends.begin(send);
  expect(await sends.read(send.sendId)).toMatchObject({
    attempt_count: 0,
    handed_off_at: null,
    lease_owner: null,
  });
});

test('a hand-off waits for a suppression in flight, and then does not happen', async () => {
  const { projectId, sends, send } = await leased();
  const suppressing = await suppressUncommitted(database, projectId, send.addressKey);
  const beginning = sends.begin(send);
  await untilWaiting(database);
  expect(await isSettled(beginning)).toBe(false);
  await suppressing.query('commit');
  expect(await beginning).toBe('suppressed');
});

test('a suppression that is rolled back lets the hand-off it held up happen', async () => {
  const { projectId, sends, send } = await leased();
  const suppressing = await suppressUncommitted(database, projectId, send.addressKey);
  const beginning = sends.begin(send);
  await untilWaiting(database);
  await suppressing.query('rollback');
  expect(await beginning).toBe('handing_off');
});

test('a suppression waits for a hand-off in flight', async () => {
  const { projectId, sends, send, suppress } = await leased();
  const handing = await connectTo(database, projectId);
  await handing.query('begin');
  expect(await beginOver(handing, projectId, send)).toBe('handing_off');
  const suppressing = suppress();
  await untilWaiting(database);
  expect(await isSettled(suppressing)).toBe(false);
  await handing.query('commit');
  await suppressing;
  expect(await sends.read(send.sendId)).toMatchObject({ status: 'handing_off' });
});

test('once a suppression is acknowledged, none of many hand-offs to the address begins', async () => {
  const projectId = newId();
  const sends = sendsOf(database, projectId);
  const address = { recipient: 'ann@example.com', providerId: newId() };
  const planned = Array.from({ length: 40 }, () => newSend(address));
  for (const send of planned) await sends.plan(send);
  await sends.claim(address.providerId);

  let isAcknowledged = false;
  let begun = 0;
  const suppress = async () => {
    await sends.within((scope) =>
      suppressAddress(scope, {
        addressKey: addressKeyOf(address.recipient),
        email: address.recipient,
        historyId: newId(),
        reason: 'complaint',
        source: 'test',
      }),
    );
    isAcknowledged = true;
  };
  let suppressing: Promise<void> | undefined;
  const rest = planned.values();
  const lane = async () => {
    for (const send of rest) {
      const isTooLate = isAcknowledged;
      const decision = await sends.begin(send);
      if (isTooLate) expect(decision).toBe('suppressed');
      begun += 1;
      if (begun === 10) suppressing = suppress();
    }
  };
  await Promise.all([lane(), lane(), lane()]);
  await suppressing;
  expect(await sends.begin(planned[0] as NewSend)).not.toBe('handing_off');
});
