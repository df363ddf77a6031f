// A send that nobody knows of, and that its automation wants sent again by itself: seen, and stopped.
import { describe, expect, test } from 'vitest';
import { RESEND_AFTER_SECONDS } from '../../src/delivery/retry.ts';
import { resendUnknown } from '../../src/delivery/wait_queries.ts';
import { park } from '../../src/providers/providers.ts';
import { counterparts, fieldsOf, providersOf } from '../providers/counterparts.ts';
import { expectRefusal } from '../support/api.ts';
import { ownApi } from '../support/own_api.ts';
import { testDatabase } from '../support/database.ts';
import { sendsOf } from './one_send.ts';
import { used } from '../providers/used.ts';

const database = testDatabase();
const sinks = counterparts(database);
const api = ownApi(database);
const { create } = providersOf(api);
const DUE = "due_at = now() - interval '1 second'";

const unknownSend = async (onUnknown: 'hold' | 'resend') => {
  const { id: providerId } = (await create(fieldsOf(sinks, 'relay_api'))).body;
  const sends = sendsOf(database, api.project.project_id);
  const { sendId } = await sends.handingOff({ onUnknown, providerId });
  const lost = { reason: 'outcome_unknown', retryAfterSeconds: RESEND_AFTER_SECONDS };
  await sends.end(sendId, 'unknown', lost);
  const fallDue = () => sends.update(sendId, DUE);
  const resend = () => sends.within((scope) => resendUnknown(scope, providerId));
  const key = api.project.server_key;
  const read = async () => (await api.call('GET', `/v1/sends/${sendId}`, { key })).body;
  const cancel = () => api.call('POST', `/v1/sends/${sendId}/cancel`, { key });
  return { sends, sendId, providerId, fallDue, resend, read, cancel };
};

describe('an unknown send that is sent again by itself', () => {
  test('GET 200: says when, and how to stop it', async () => {
    const { sends, sendId, read } = await unknownSend('resend');
    const until = (await sends.read(sendId)).due_at.toISOString();
    const { status, status_fix, waits_for } = await read();
    expect([status, status_fix]).toEqual(['unknown', expect.stringContaining('sent again')]);
    expect(waits_for).toEqual({
      because: 'resend',
      reason: null,
      answer: null,
      until,
      fix: expect.stringContaining('Cancel'),
    });
  });

  test('GET 200: says so too when its provider holds that up', async () => {
    const { providerId, sends, read } = await unknownSend('resend');
    await sends.within((scope) => park(scope, used(providerId), 'invalid_key'));
    const { status_fix, waits_for } = await read();
    expect(status_fix).toContain('sent again');
    expect(waits_for.because).toBe('provider_parked');
  });

  test('POST 200: is not sent again once it is cancelled, and stays unknown', async () => {
    const { sends, sendId, providerId, read, cancel } = await unknownSend('resend');
    for (let times = 0; times < 2; times += 1) {
      const { status, body } = await cancel();
      expect([status, body.status, body.status_reason]).toEqual([200, 'unknown', 'cancelled']);
    }
    expect((await read()).waits_for).toBeNull();
    await sends.within((scope) => resendUnknown(scope, providerId));
    expect((await sends.read(sendId)).status).toBe('unknown');
  });

  test('what had stopped it has its way when it turns out that it was not taken', async () => {
    const { sends, sendId, cancel } = await unknownSend('resend');
    await cancel();
    await sends.end(sendId, 'deferred', { reason: 'throttled', retryAfterSeconds: 0 });
    expect(await sends.read(sendId)).toMatchObject({
      status: 'cancelled',
      status_reason: 'cancelled',
    });
  });

  test('is cancelled once, by whichever of both comes first, while it is queued again', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { sends, sendId, fallDue, resend, cancel } = await unknownSend('resend');
      await fallDue();
      const [{ status, body }] = await Promise.all([cancel(), resend()]);
      expect([status, body.status_reason]).toEqual([200, 'cancelled']);
      expect(await sends.read(sendId)).toMatchObject({ status: 'unknown' });
    }
  });
});

describe('POST 409 send_not_queued: says what does stop it, or that nothing is left to stop', () => {
  test('an unknown one that nothing sends again', async () => {
    const { read, cancel } = await unknownSend('hold');
    expect((await read()).waits_for).toBeNull();
    const refused = await cancel();
    expectRefusal(refused, 'send_not_queued');
    expect(refused.body.detail).toContain('resolve');
  });

  test.each([
    ['handing_off', 'just now'],
    ['accepted', 'as accepted'],
  ])('one that is %s', async (status, said) => {
    const { sends, sendId, cancel } = await unknownSend('hold');
    const at = status === 'accepted' ? ', accepted_at = now()' : '';
    await sends.update(sendId, `status = '${status}', status_reason = null${at}`);
    const refused = await cancel();
    expectRefusal(refused, 'send_not_queued');
    expect(refused.body.detail).toContain(said);
  });
});
