import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import type { NewSend } from '../../src/delivery/queries.ts';
import { connectTo, isSettled, untilWaiting } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';
import { newSend, sendsOf, suppressUncommitted } from './one_send.ts';

const database = testDatabase();
const STOP =
  'select (delivery.stop_hand_offs(project_id => $1, send_ids => $2, address_keys => $3)).stopped';

const planned = async (count: number) => {
  const projectId = newId();
  const sends = sendsOf(database, projectId);
  const all = Array.from({ length: count }, () => newSend());
  for (const send of all) await sends.plan(send);
  const client = await connectTo(database, projectId);
  const stop = async (asked: readonly NewSend[]): Promise<(string | null)[]> =>
    (
      await client.query(STOP, [
        projectId,
        asked.map(({ sendId }) => sendId),
        asked.map(({ addressKey }) => addressKey),
      ])
    ).rows[0].stopped;
  return { projectId, sends, all, client, stop };
};

test('each of several is asked for itself, and the first reason that stops it is told', async () => {
  const { projectId, sends, all, stop } = await planned(5);
  const [free, expired, erased, left, both] = all as [NewSend, NewSend, NewSend, NewSend, NewSend];
  await sends.update(expired.sendId, "expires_at = now() - interval '1 ms'");
  await sends.update(both.sendId, "expires_at = now() - interval '1 ms'");
  await database.owner.query(
    'update profiles.profiles set erasure_id = $1 where project_id = $2 and profile_id = $3',
    [newId(), projectId, erased.profileId],
  );
  await database.owner.query(
    'update suppression.addresses set unsubscribed_at = now() where project_id = $1 and address_key in ($2, $3)',
    [projectId, left.addressKey, both.addressKey],
  );
  expect(await stop([both, left, erased, expired, free])).toEqual([
    'unsubscribed',
    'unsubscribed',
    'erased',
    'expired',
    null,
  ]);
  expect(await stop([])).toEqual([]);
});

test('a send that there is not any more is nobody’s', async () => {
  const { all, stop } = await planned(1);
  expect(await stop([{ ...(all[0] as NewSend), sendId: newId() }])).toEqual(['erased']);
});

test('whoever suppresses one of the addresses is waited for, and waits', async () => {
  const { projectId, all, client, stop } = await planned(3);
  const key = all[1]?.addressKey as Buffer;
  const suppressing = await suppressUncommitted(database, projectId, key);
  const stopping = stop(all);
  await untilWaiting(database);
  expect(await isSettled(stopping)).toBe(false);
  await suppressing.query('commit');
  expect(await stopping).toEqual([null, 'suppressed', null]);
  await client.query('begin');
  await stop(all);
  const other = suppressUncommitted(database, projectId, all[2]?.addressKey as Buffer);
  await untilWaiting(database);
  expect(await isSettled(other)).toBe(false);
  await client.query('rollback');
  await (await other).query('rollback');
});
