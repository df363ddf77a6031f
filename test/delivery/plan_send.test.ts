import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { changeSubscription, suppressAddress } from '../../src/suppression/change_queries.ts';
import { isSettled, untilWaiting } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';
import { newSend, sendsOf, suppressUncommitted } from './one_send.ts';

const database = testDatabase();

test('a planned send is queued, due at once, and expires by the hours it was given', async () => {
  const sends = sendsOf(database, newId());
  const send = newSend({ expiresAfterSeconds: 72 * 3_600 });
  expect(await sends.plan(send)).toEqual({ planned_id: send.sendId, planned_status: 'queued' });
  const { rows } = await database.owner.query(
    `select status, status_reason, attempt_count, recipient, due_at <= now() + interval '1 ms' as is_due,
      expires_at - queued_at = interval '72 hours' as expires_in_time
    from delivery.sends where send_id = $1`,
    [send.sendId],
  );
  expect(rows).toEqual([
    {
      status: 'queued',
      status_reason: null,
      attempt_count: 0,
      recipient: send.recipient,
      is_due: true,
      expires_in_time: true,
    },
  ]);
});

test('the address has a row to lock before the send exists', async () => {
  const sends = sendsOf(database, newId());
  const send = newSend();
  await sends.plan(send);
  const { rows } = await database.owner.query(
    'select email, reason, suppressed_at from suppression.addresses where address_key = $1',
    [send.addressKey],
  );
  expect(rows).toEqual([{ email: send.recipient, reason: null, suppressed_at: null }]);
});

test('planning the same step of the same run again answers with the first send', async () => {
  const sends = sendsOf(database, newId());
  const first = newSend();
  await sends.plan(first);
  const again = { ...newSend(), runId: first.runId, stepId: first.stepId };
  expect(await sends.plan(again)).toEqual({ planned_id: first.sendId, planned_status: 'queued' });
  const { rowCount } = await database.owner.query('select from delivery.sends where run_id = $1', [
    first.runId,
  ]);
  expect(rowCount).toBe(1);
});

test('another step, another run and another project are intents of their own', async () => {
  const first = newSend();
  const others = [
    { projectId: newId(), runId: first.runId, stepId: first.stepId },
    { projectId: newId(), runId: first.runId, stepId: 'second' },
    { projectId: newId(), runId: newId(), stepId: first.stepId },
  ];
  await sendsOf(database, newId()).plan(first);
  for (const { projectId, ...step } of others) {
    const send = newSend(step);
    const { planned_id } = await sendsOf(database, projectId).plan(send);
    expect(planned_id).toBe(send.sendId);
  }
});

test('a suppressed address makes a send that has ended already', async () => {
  const sends = sendsOf(database, newId());
  const send = newSend();
  await sends.within((scope) =>
    suppressAddress(scope, {
      addressKey: send.addressKey,
      email: send.recipient,
      historyId: newId(),
      reason: 'manual',
      source: 'test',
    }),
  );
  expect(await sends.plan(send)).toEqual({ planned_id: send.sendId, planned_status: 'suppressed' });
  expect(await sends.read(send.sendId)).toMatchObject({ status_reason: 'suppressed' });
  expect(await sends.claim(send.providerId)).toEqual([]);
});

test('an address that unsubscribed makes a marketing send that has ended, and takes transactional mail', async () => {
  const sends = sendsOf(database, newId());
  const marketing = newSend();
  const receipt = newSend({
    recipient: marketing.recipient,
    addressKey: marketing.addressKey,
    category: 'transactional',
  });
  await sends.within((scope) =>
    changeSubscription(scope, {
      addressKey: marketing.addressKey,
      email: marketing.recipient,
      historyId: newId(),
      change: 'unsubscribed',
      source: 'test',
      at: null,
    }),
  );
  expect(await sends.plan(marketing)).toMatchObject({ planned_status: 'suppressed' });
  expect(await sends.read(marketing.sendId)).toMatchObject({ status_reason: 'unsubscribed' });
  expect(await sends.plan(receipt)).toMatchObject({ planned_status: 'queued' });
});

test('a category nobody knows is refused', async () => {
  const send = newSend({ category: 'spam' as 'marketing' });
  await expect(sendsOf(database, newId()).plan(send)).rejects.toThrow(/check integrity constraint/);
});

test('two planners of one step at once make one send and both learn its id', async () => {
  const projectId = newId();
  const sends = sendsOf(database, projectId);
  const step = { runId: newId(), stepId: 'welcome' };
  const planned = await Promise.all(
    Array.from({ length: 8 }, () => sends.plan(newSend({ ...step, recipient: 'ann@example.com' }))),
  );
  expect(new Set(planned.map(({ planned_id }) => planned_id)).size).toBe(1);
  const { rowCount } = await database.owner.query('select from delivery.sends where run_id = $1', [
    step.runId,
  ]);
  expect(rowCount).toBe(1);
});

test('planning waits for a suppression of the address that is not committed yet', async () => {
  const projectId = newId();
  const sends = sendsOf(database, projectId);
  const send = newSend();
  const suppressing = await suppressUncommitted(database, projectId, send.addressKey);
  const planning = sends.plan(send);
  await untilWaiting(database);
  expect(await isSettled(planning)).toBe(false);
  await suppressing.query('commit');
  expect(await planning).toMatchObject({ planned_status: 'suppressed' });
});
