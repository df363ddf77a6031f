import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { holdRestored } from '../../src/delivery/delivery.ts';
import { testDatabase } from '../support/database.ts';
import { newSend, sendsOf } from './one_send.ts';

const database = testDatabase();
const RESTORED_AT = new Date('2026-03-01T10:00:00.000Z');
const BEFORE = '2026-03-01T09:59:59.999Z';
const AT = RESTORED_AT.toISOString();

/** A send that waits since then and is due then, in a project of its own. */
const waiting = async (queuedAt: string, dueAt: string, more = '') => {
  const sends = sendsOf(database, newId());
  const send = newSend();
  await sends.plan(send);
  await sends.update(send.sendId, `queued_at = '${queuedAt}', due_at = '${dueAt}'${more}`);
  const hold = () => sends.within((scope) => holdRestored(scope, RESTORED_AT));
  return { hold, read: () => sends.read(send.sendId), sends, send };
};

test('what waited and was due by then is unknown, as after a hand-off that nobody heard of', async () => {
  const { hold, read } = await waiting(BEFORE, BEFORE);
  expect(await hold()).toBe(1);
  expect(await read()).toMatchObject({
    status: 'unknown',
    status_reason: 'restored',
    attempt_count: 1,
    handed_off_at: new Date(BEFORE),
    lease_owner: null,
  });
  expect(await hold()).toBe(0);
});

test('what was to wait longer waits on', async () => {
  const { hold, read } = await waiting(BEFORE, AT);
  expect(await hold()).toBe(0);
  expect(await read()).toMatchObject({ status: 'queued', attempt_count: 0 });
});

test('what waited for its ramp may have been let go earlier', async () => {
  const { hold, read } = await waiting(BEFORE, AT, `, status_reason = 'ramp'`);
  expect(await hold()).toBe(1);
  expect(await read()).toMatchObject({ status: 'unknown', handed_off_at: RESTORED_AT });
});

test('what is planned from then on is new', async () => {
  const { hold, read } = await waiting(AT, AT);
  expect(await hold()).toBe(0);
  expect(await read()).toMatchObject({ status: 'queued' });
});

test('whoever finds out that it was not sent has it sent', async () => {
  const { hold, read, sends, send } = await waiting(BEFORE, BEFORE);
  await hold();
  await sends.update(send.sendId, `status = 'queued', due_at = now() - interval '1 ms'`);
  const [claimed] = await sends.claim(send.providerId);
  expect(claimed).toMatchObject({ send_id: send.sendId, attempt: 2 });
  expect(await sends.begin(send, undefined, 2)).toBe('handing_off');
  expect(await read()).toMatchObject({ attempt_count: 2 });
});
