// Somebody has found that an unknown send was not sent, and wants it sent again.
import { describe, expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { sendQueued, settleLost } from '../../src/delivery/delivery.ts';
import { eraseSends } from '../../src/delivery/erase_queries.ts';
import { resendUnknown } from '../../src/delivery/wait_queries.ts';
import { takeBounce } from '../../src/feedback/feedback.ts';
import { saveTemplate } from '../../src/rendering/rendering.ts';
import { addressKey, suppress } from '../../src/suppression/suppression.ts';
import { counterparts, fieldsOf, providersOf } from '../providers/counterparts.ts';
import { expectRefusal } from '../support/api.ts';
import { ownApi } from '../support/own_api.ts';
import { NEVER, testDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';
import { newSend, OWNER, sendsOf } from './one_send.ts';

const database = testDatabase();
const sinks = counterparts(database);
const api = ownApi(database);
const { create } = providersOf(api);
const resolve = (id: string, body: object) =>
  api.call('POST', `/v1/sends/${id}/resolve`, { key: api.project.server_key, body });
const sendAgain = (id: string, after = 1) =>
  resolve(id, { outcome: 'not_sent', send_again_after: after });

/** A send of which the relay had the whole message and said nothing. */
const unknownSend = async () => {
  const { project_id: projectId } = api.project;
  const { id: providerId } = (await create(fieldsOf(sinks, 'smtp'))).body;
  const templateId = await inProject(database.deps, projectId, (scope) =>
    saveTemplate(scope, { name: 'W', subject: 'W', html: '<p>W</p>', text: null }),
  );
  const recipient = `${newId()}@example.test`;
  const sends = sendsOf(database, projectId);
  const key = await sends.within((scope) => Promise.resolve(addressKey(scope, recipient)));
  const send = newSend({ providerId, templateId, recipient, addressKey: key });
  const work = async () => {
    const turning = { projectId, providerId, owner: OWNER, signal: NEVER, takeBounce };
    await sendQueued(database.deps, turning);
    await until(
      'nothing is under way',
      async () => (await sends.read(send.sendId)).lease_owner === null,
    );
  };
  await sends.plan(send);
  sinks.smtp.play('end', 'drop', { times: 1 });
  await work();
  expect(await sends.read(send.sendId)).toMatchObject({ status: 'unknown', attempt_count: 1 });
  return { sends, send, work };
};

/** A send whose owner was silent for too long, and is alive. */
const givenUp = async () => {
  const { project_id: projectId } = api.project;
  const sends = sendsOf(database, projectId);
  const send = await sends.handingOff();
  await sends.within((scope) => settleLost(scope, [OWNER], 3_600));
  return { projectId, sends, send };
};

test('200: it is handed over once more, however often that is asked for', async () => {
  const { sends, send, work } = await unknownSend();
  const asked = await Promise.all(Array.from({ length: 4 }, () => sendAgain(send.sendId)));
  expect(asked.map(({ status, body }) => [status, body.status])).toEqual(
    Array.from({ length: 4 }, () => [200, 'queued']),
  );
  await work();
  expect(await sends.read(send.sendId)).toMatchObject({ status: 'accepted', attempt_count: 2 });
  expect((await sendAgain(send.sendId)).body).toMatchObject({ status: 'accepted', attempts: 2 });
  await work();
  expect(sinks.smtp.mails.map(({ send_id }) => send_id)).toEqual([send.sendId, send.sendId]);
});

test('200: the same request does not send it a third time when it is unknown again, a new one does', async () => {
  const { sends, send, work } = await unknownSend();
  await sends.update(send.sendId, "on_unknown = 'resend'");
  await sendAgain(send.sendId);
  sinks.smtp.play('end', 'drop', { times: 1 });
  await work();
  expect((await sendAgain(send.sendId)).body).toMatchObject({ status: 'unknown', attempts: 2 });
  await sends.update(send.sendId, "due_at = now() - interval '1 ms'");
  await sends.within((scope) => resendUnknown(scope, send.providerId));
  await work();
  expect(sinks.smtp.mails).toHaveLength(2);
  expect((await sendAgain(send.sendId, 2)).body).toMatchObject({ status: 'queued', attempts: 2 });
  await work();
  expect(sinks.smtp.mails).toHaveLength(3);
});

test('200: one that had expired is as young as a new one', async () => {
  const { sends, send, work } = await unknownSend();
  await sends.update(send.sendId, "expires_at = now() - interval '1 day'");
  await sendAgain(send.sendId);
  await work();
  expect(await sends.read(send.sendId)).toMatchObject({ status: 'accepted' });
});

test('200: a suppression stops it, and as somebody said that it was not sent, it was not', async () => {
  const { sends, send, work } = await unknownSend();
  await sends.within((scope) =>
    suppress(scope, { email: send.recipient, reason: 'manual', source: 'test' }),
  );
  expect((await sendAgain(send.sendId)).body.status).toBe('queued');
  await work();
  expect(await sends.read(send.sendId)).toMatchObject({ status: 'suppressed' });
  expect((await sendAgain(send.sendId)).body.status).toBe('suppressed');
  expect(sinks.smtp.mails).toHaveLength(1);
});

test.each(['unknown', 'deferred', 'not_started', 'rejected', 'accepted'] as const)(
  '200: said again it changes nothing, also once the owner of that hand-off says %s after all',
  async (outcome) => {
    const { projectId, sends, send } = await givenUp();
    expect((await sendAgain(send.sendId)).body.status).toBe('queued');
    const reason = outcome === 'accepted' ? null : 'late';
    await sends.end(send.sendId, outcome, { reason, retryAfterSeconds: 600 });
    const status = outcome === 'accepted' ? 'accepted' : 'queued';
    const again = await sendAgain(send.sendId);
    expect([again.status, again.body.status]).toEqual([200, status]);
    const { rows } = await database.owner.query(
      'select delivery.list_unresolved($1, array[$2::uuid]) as found',
      [projectId, send.sendId],
    );
    expect(rows).toEqual([{ found: null }]);
  },
);

test('feedback of the first hand-off, while it waits, proves that somebody was wrong', async () => {
  const { sends, send, work } = await unknownSend();
  await sendAgain(send.sendId);
  await sends.tell(send.sendId, 'delivered', new Date());
  expect(await sends.read(send.sendId)).toMatchObject({ status: 'accepted' });
  await work();
  expect(sinks.smtp.mails).toHaveLength(1);
});

describe('409 send_not_unknown', () => {
  test('one that ended as not sent before is not taken up again', async () => {
    const { send } = await unknownSend();
    expect((await resolve(send.sendId, { outcome: 'not_sent' })).status).toBe(200);
    expectRefusal(await sendAgain(send.sendId), 'send_not_unknown');
  });

  test('an attempt that there was not', async () => {
    const { sends, send } = await unknownSend();
    const answer = await sendAgain(send.sendId, 7);
    expectRefusal(answer, 'send_not_unknown');
    expect(answer.body.detail).toContain('are 1, not 7');
    expect(await sends.read(send.sendId)).toMatchObject({ status: 'unknown' });
  });

  test('one that was queued again and cancelled since: nothing is sent', async () => {
    const { sends, send, work } = await unknownSend();
    await sendAgain(send.sendId);
    const { server_key: key } = api.project;
    const cancelled = await api.call('POST', `/v1/sends/${send.sendId}/cancel`, { key });
    expect(cancelled.body.status).toBe('cancelled');
    const answer = await sendAgain(send.sendId);
    expectRefusal(answer, 'send_not_unknown');
    expect(answer.body.detail).toContain('cancelled since');
    await work();
    expect(await sends.read(send.sendId)).toMatchObject({ attempt_count: 1 });
  });

  test('somebody who is erased', async () => {
    const { sends, send } = await unknownSend();
    await sends.within((scope) => eraseSends(scope, [send.sendId]));
    const answer = await sendAgain(send.sendId);
    expectRefusal(answer, 'send_not_unknown');
    expect(answer.body.detail).toContain('erased');
  });
});

test('400 invalid_request: attempts are counted from 1, and the answer says so', async () => {
  const { send } = await unknownSend();
  const answer = await sendAgain(send.sendId, 0);
  expectRefusal(answer, 'invalid_request');
  expect(JSON.stringify(answer.body)).toMatch(/at least 1|>=\s?1/);
});

test('400 invalid_request: what was accepted is not sent again', async () => {
  const { send } = await unknownSend();
  const answer = await resolve(send.sendId, { outcome: 'accepted', send_again_after: 1 });
  expectRefusal(answer, 'invalid_request');
});
