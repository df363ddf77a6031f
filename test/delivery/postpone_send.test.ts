import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { postponeSend } from '../../src/delivery/queries.ts';
import { testDatabase } from '../support/database.ts';
import { newSend, OWNER, sendsOf } from './one_send.ts';

const database = testDatabase();

const leased = async () => {
  const sends = sendsOf(database, newId());
  const send = newSend();
  await sends.plan(send);
  await sends.claim(send.providerId);
  return { ...sends, send };
};
const post = { reason: 'connection_failed', retryAfterSeconds: 600 };

test('a send that is put back is due when it was told, nobody’s, counts no attempt and says why', async () => {
  const { send, within, read } = await leased();
  await within((scope) => postponeSend(scope, send.sendId, OWNER, post));
  const put = (await read(send.sendId)) as unknown as { due_at: Date };
  expect(put).toMatchObject({
    status: 'queued',
    status_reason: 'connection_failed',
    lease_owner: null,
    attempt_count: 0,
  });
  expect((put.due_at.getTime() - Date.now()) / 1_000).toBeCloseTo(600, -1);
});

test('only its owner puts a send back', async () => {
  const { send, within, read } = await leased();
  await within((scope) => postponeSend(scope, send.sendId, 'somebody else', post));
  expect(await read(send.sendId)).toMatchObject({ status_reason: null, lease_owner: OWNER });
});
