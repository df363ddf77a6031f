import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { postponeSend } from '../../src/delivery/queries.ts';
import { RETRY_BASE_SECONDS, RETRY_MAX_SECONDS } from '../../src/delivery/retry.ts';
import { testDatabase } from '../support/database.ts';
import { newSend, OWNER, sendsOf } from './one_send.ts';

const database = testDatabase();

const bounds = { minSeconds: RETRY_BASE_SECONDS, maxSeconds: RETRY_MAX_SECONDS };
const leased = async () => {
  const sends = sendsOf(database, newId());
  const send = newSend();
  await sends.plan(send);
  await sends.claim(send.providerId);
  return { ...sends, send };
};

/** How long a send of an age waits for its next try, to the second. */
const waitAt = async (ageSeconds: number, jitter = 1): Promise<number> => {
  const { send, update, within, read } = await leased();
  await update(send.sendId, `queued_at = now() - interval '${ageSeconds} seconds'`);
  const { rows } = await database.owner.query<{ now: Date }>('select now()');
  await within((scope) =>
    postponeSend(scope, send.sendId, OWNER, { reason: null, jitter, ...bounds }),
  );
  const { due_at: dueAt } = (await read(send.sendId)) as unknown as { due_at: Date };
  return Math.round((dueAt.getTime() - (rows[0]?.now.getTime() ?? NaN)) / 1_000);
};

const near = (seconds: number) => expect.closeTo(seconds, -1);

test('a send that is put back waits as long as it has waited already, between its two bounds', async () => {
  expect(await waitAt(0)).toEqual(near(RETRY_BASE_SECONDS));
  expect(await waitAt(RETRY_BASE_SECONDS - 20)).toEqual(near(RETRY_BASE_SECONDS));
  expect(await waitAt(600)).toEqual(near(600));
  expect(await waitAt(RETRY_MAX_SECONDS)).toEqual(near(RETRY_MAX_SECONDS));
  expect(await waitAt(RETRY_MAX_SECONDS * 10)).toEqual(near(RETRY_MAX_SECONDS));
});

test('the jitter is full: any share of that, down to none', async () => {
  expect(await waitAt(3_600, 0.5)).toEqual(near(1_800));
  expect(await waitAt(3_600, 0)).toEqual(near(0));
});

test('it is nobody’s any more, counts no attempt, and says why', async () => {
  const { send, within, read } = await leased();
  const wait = { reason: 'connection_failed', jitter: 1, ...bounds };
  await within((scope) => postponeSend(scope, send.sendId, OWNER, wait));
  expect(await read(send.sendId)).toMatchObject({
    status: 'queued',
    status_reason: 'connection_failed',
    lease_owner: null,
    attempt_count: 0,
  });
});

test('only its owner puts a send back', async () => {
  const { send, within, read } = await leased();
  const wait = { reason: 'connection_failed', jitter: 1, ...bounds };
  await within((scope) => postponeSend(scope, send.sendId, 'somebody else', wait));
  expect(await read(send.sendId)).toMatchObject({ status_reason: null, lease_owner: OWNER });
});
