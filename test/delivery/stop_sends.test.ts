import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { SEND_STATUSES } from '../../src/delivery/queries.ts';
import { stopSends } from '../../src/delivery/stop.ts';
import { sql } from '../../src/base/db.ts';
import { testDatabase } from '../support/database.ts';
import { newSend, sendsOf, unresolved } from './one_send.ts';

const database = testDatabase();

/** Stops sends of one project; answers which. */
const stop = async (projectId: string, sendIds: string[], said?: string) => {
  const stopped = await sendsOf(database, projectId).within((scope) =>
    stopSends(scope, {
      sendIds: sql.array(sendIds, 'uuid'),
      stop: 'failed_render',
      ...(said === undefined ? {} : { said }),
    }),
  );
  return stopped.map(({ send_id }) => send_id);
};

test.each(SEND_STATUSES)('of sends that are %s only those that wait are ended', async (status) => {
  const projectId = newId();
  const sends = sendsOf(database, projectId);
  const { sendId } = await sends.handingOff();
  await sends.update(sendId, `status = '${status}'`);
  const isWaiting = status === 'queued';
  expect(await stop(projectId, [sendId])).toEqual(isWaiting ? [sendId] : []);
  expect((await sends.read(sendId)).status).toBe(isWaiting ? 'failed_render' : status);
});

test('of several each ends as its hand-offs allow, and only an end says more than its reason', async () => {
  const { projectId, sends, send } = await unresolved(database);
  const fresh = newSend();
  await sends.plan(fresh);
  const stopped = await stop(projectId, [send.sendId, fresh.sendId], 'no first_name');
  expect(new Set(stopped)).toEqual(new Set([send.sendId, fresh.sendId]));
  expect(await sends.read(fresh.sendId)).toMatchObject({
    status: 'failed_render',
    status_reason: 'no first_name',
    lease_owner: null,
  });
  expect(await sends.read(send.sendId)).toMatchObject({
    status: 'unknown',
    status_reason: 'failed_render',
    lease_owner: null,
  });
});

test('another project’s send is not stopped, nor is none', async () => {
  const projectId = newId();
  const sends = sendsOf(database, projectId);
  const send = newSend();
  await sends.plan(send);
  expect(await stop(newId(), [send.sendId])).toEqual([]);
  expect(await stop(projectId, [])).toEqual([]);
  expect(await sends.read(send.sendId)).toMatchObject({ status: 'queued' });
});
