import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { RESEND_AFTER_SECONDS, UNKNOWN_ATTEMPTS_MAX } from '../../src/delivery/retry.ts';
import { settleLost } from '../../src/delivery/delivery.ts';
import { resendUnknown } from '../../src/delivery/wait_queries.ts';
import { testDatabase } from '../support/database.ts';
import { OWNER, sendsOf } from './one_send.ts';

const database = testDatabase();
const LATER = { retryAfterSeconds: RESEND_AFTER_SECONDS, reason: 'outcome_unknown' };
const DUE = "due_at = now() - interval '1 second'";

const unknownSend = async (onUnknown: 'hold' | 'resend') => {
  const sends = sendsOf(database, newId());
  const send = await sends.handingOff({ onUnknown });
  await sends.end(send.sendId, 'unknown', LATER);
  const resend = () => sends.within((scope) => resendUnknown(scope, send.providerId));
  const status = async () => (await sends.read(send.sendId)).status;
  return { ...sends, send, resend, status };
};

test('what is unknown is held, however long it waits', async () => {
  const { send, update, resend, status } = await unknownSend('hold');
  await update(send.sendId, DUE);
  await resend();
  expect(await status()).toBe('unknown');
  const { rows } = await database.owner.query<{ is_due: boolean }>(
    "select due_at < 'infinity' as is_due from delivery.sends where send_id = $1",
    [send.sendId],
  );
  expect(rows).toEqual([{ is_due: false }]);
});

test('where it was asked for, what is unknown waits for feedback first and is then queued again', async () => {
  const { send, update, resend, status, claim } = await unknownSend('resend');
  await resend();
  expect(await status()).toBe('unknown');
  await update(send.sendId, DUE);
  await resend();
  expect(await status()).toBe('queued');
  expect(await claim(send.providerId)).toMatchObject([{ send_id: send.sendId, attempt: 2 }]);
});

test('a fact that comes before it was handed over again proves it accepted', async () => {
  const { send, update, resend, tell, claim, begin, read } = await unknownSend('resend');
  await update(send.sendId, DUE);
  await resend();
  await claim(send.providerId);
  await tell(send.sendId, 'delivered', new Date());
  expect(await read(send.sendId)).toMatchObject({ status: 'accepted' });
  expect(await begin(send, OWNER, 2)).toBe('lost');
});

test('a hand-off lost in a crash is sent again as well, later', async () => {
  const sends = sendsOf(database, newId());
  const send = await sends.handingOff({ onUnknown: 'resend' });
  await sends.within((scope) => settleLost(scope, [OWNER], 3_600));
  await sends.within((scope) => resendUnknown(scope, send.providerId));
  expect((await sends.read(send.sendId)).status).toBe('unknown');
  await sends.update(send.sendId, DUE);
  await sends.within((scope) => resendUnknown(scope, send.providerId));
  expect((await sends.read(send.sendId)).status).toBe('queued');
});

test.each([
  ['tried so often', `attempt_count = ${UNKNOWN_ATTEMPTS_MAX}`],
  ['expired', "expires_at = now() - interval '1 second'"],
  ['of somebody who was erased', 'recipient = null'],
])('what is unknown and %s is held', async (_why, set) => {
  const { send, update, resend, status } = await unknownSend('resend');
  await update(send.sendId, `${DUE}, ${set}`);
  await resend();
  expect(await status()).toBe('unknown');
});

test('a late answer that it was not taken queues it at once; a refusal still ends it', async () => {
  const deferred = await unknownSend('resend');
  await deferred.end(deferred.send.sendId, 'deferred', { retryAfterSeconds: 0 });
  expect(await deferred.status()).toBe('queued');
  const rejected = await unknownSend('resend');
  await rejected.end(rejected.send.sendId, 'rejected');
  expect(await rejected.status()).toBe('not_sent');
});
