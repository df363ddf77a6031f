import { describe, expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { SEND_STATUSES } from '../../src/delivery/queries.ts';
import { expectRefusal, testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { sendsOf } from './one_send.ts';

const database = testDatabase();
const api = testApi(database);
const ENDED = { unknown: 'send_not_unknown', queued: 'send_not_queued' } as const;

/** A send that was handed over and now has a status. */
const sendThatIs = async (status: string): Promise<string> => {
  const sends = sendsOf(database, api.project.project_id);
  const { sendId } = await sends.handingOff();
  await sends.update(sendId, `status = '${status}', accepted_at = null`);
  return sendId;
};
const post = (path: string, body?: unknown) =>
  api.call('POST', `/v1/sends/${path}`, { key: api.project.server_key, body });
const resolve = (id: string, outcome: string) => post(`${id}/resolve`, { outcome });
const cancel = (id: string) => post(`${id}/cancel`);

describe('resolve', () => {
  test.each(['accepted', 'not_sent'])(
    '200: an unknown send ends as %s, also said twice',
    async (outcome) => {
      const id = await sendThatIs('unknown');
      for (let time = 0; time < 2; time += 1) {
        const { status, body } = await resolve(id, outcome);
        expect([status, body.status, body.status_reason]).toEqual([200, outcome, 'resolved']);
        expect(body.accepted_at === null).toBe(outcome === 'not_sent');
      }
    },
  );

  test('409 send_not_unknown: what was resolved stays what it is', async () => {
    const id = await sendThatIs('unknown');
    await resolve(id, 'not_sent');
    expectRefusal(await resolve(id, 'accepted'), 'send_not_unknown');
  });

  test.each(SEND_STATUSES.filter((status) => !['unknown', 'not_sent'].includes(status)))(
    '409 send_not_unknown: a send that is %s is not touched',
    async (status) => {
      const id = await sendThatIs(status);
      expectRefusal(await resolve(id, 'not_sent'), ENDED.unknown);
      expect(await sendsOf(database, api.project.project_id).read(id)).toMatchObject({ status });
    },
  );

  test('400 invalid_request: an outcome that nobody knows', async () => {
    expectRefusal(await resolve(await sendThatIs('unknown'), 'rejected'), 'invalid_request');
  });

  test('404 not_found: another project’s send, and nobody’s', async () => {
    const { sendId } = await sendsOf(database, newId()).handingOff();
    expectRefusal(await resolve(sendId, 'accepted'), 'not_found');
    expectRefusal(await resolve(newId(), 'accepted'), 'not_found');
  });

  test('403 wrong_key_type: a publishable key may not', async () => {
    const id = await sendThatIs('unknown');
    const call = { key: api.project.publishable_key, body: { outcome: 'accepted' } };
    expectRefusal(await api.call('POST', `/v1/sends/${id}/resolve`, call), 'wrong_key_type');
  });
});

describe('cancel', () => {
  test('200: a send that waits is cancelled, also while it is leased, and cannot begin', async () => {
    const sends = sendsOf(database, api.project.project_id);
    const send = await sends.handingOff();
    await sends.end(send.sendId, 'deferred', { retryAfterSeconds: 0 });
    await sends.claim(send.providerId);
    for (let time = 0; time < 2; time += 1) {
      const { status, body } = await cancel(send.sendId);
      expect([status, body.status, body.status_reason]).toEqual([200, 'cancelled', 'cancelled']);
    }
    expect(await sends.begin(send, undefined, 2)).toBe('lost');
  });

  test.each(SEND_STATUSES.filter((status) => !['queued', 'cancelled'].includes(status)))(
    '409 send_not_queued: a send that is %s is not touched',
    async (status) => {
      const id = await sendThatIs(status);
      expectRefusal(await cancel(id), ENDED.queued);
      expect(await sendsOf(database, api.project.project_id).read(id)).toMatchObject({ status });
    },
  );
});
