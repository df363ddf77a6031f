import { describe, expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { requeueAll, REQUEUE_DAYS_MAX } from '../../src/delivery/requeue.ts';
import { createProject } from '../../src/projects/projects.ts';
import { addressKey } from '../../src/suppression/suppression.ts';
import { counterparts, fieldsOf, providersOf, sendOneOf } from '../providers/counterparts.ts';
import { ownApi } from '../support/own_api.ts';
import { testDatabase } from '../support/database.ts';
import { newSend, sendsOf } from './one_send.ts';

const database = testDatabase();
const sinks = counterparts(database);
const api = ownApi(database);
const { create } = providersOf(api);
const sendOne = sendOneOf(database, api);
const post = (path: string, body: object = {}) =>
  api.call('POST', path, { key: api.project.server_key, body });
const sends = () => sendsOf(database, api.project.project_id);

const rejected = async (count = 1): Promise<{ providerId: string; ids: string[] }> => {
  const { id: providerId } = (await create(fieldsOf(sinks, 'smtp'))).body;
  const ids: string[] = [];
  for (let at = 0; at < count; at += 1) {
    sinks.smtp.play('end', { code: 552, text: `5.3.4 too large ${at}` }, { times: 1 });
    const send = await sendOne(providerId);
    expect(send).toMatchObject({ status: 'rejected', status_reason: 'message_refused' });
    ids.push(send.id);
  }
  return { providerId, ids };
};

describe('POST /v1/sends/{id}/requeue', () => {
  test('200: a rejected send is queued again, and is handed over', async () => {
    const { providerId, ids } = await rejected();
    expect(await post(`/v1/sends/${ids[0]}/requeue`)).toMatchObject({
      status: 200,
      body: { status: 'queued', status_reason: null },
    });
    await sendOne(providerId);
    expect(await sends().read(ids[0] ?? '')).toMatchObject({
      status: 'accepted',
      attempt_count: 2,
    });
  });

  test('200: twice, also at once, queues it once', async () => {
    const { ids } = await rejected();
    const path = `/v1/sends/${ids[0]}/requeue`;
    const answers = await Promise.all([post(path), post(path), post(path)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect((await sends().read(ids[0] ?? '')).status).toBe('queued');
  });

  test('409 send_not_rejected: one that was accepted, one that bounced, and one that is too old', async () => {
    const { providerId, ids } = await rejected();
    const accepted = await sendOne(providerId);
    const bounced = await sendOne(providerId);
    await sends().update(bounced.id, "status = 'rejected', bounced_at = now()");
    await sends().update(
      ids[0] ?? '',
      `queued_at = now() - interval '${REQUEUE_DAYS_MAX} days 1 minute'`,
    );
    for (const [id, says] of [
      [accepted.id, /Only a rejected send/],
      [bounced.id, /It bounced/],
      [ids[0], /older than 30 days/],
    ])
      expect(await post(`/v1/sends/${id}/requeue`)).toMatchObject({
        status: 409,
        body: { error: 'send_not_rejected', detail: expect.stringMatching(says) },
      });
  });

  test('409: the hard bounce of a hand-off ends its send for good', async () => {
    const { id: providerId } = (await create(fieldsOf(sinks, 'smtp'))).body;
    const recipient = `${newId()}@example.test`;
    const key = await inProject(database.deps, api.project.project_id, (scope) =>
      Promise.resolve(addressKey(scope, recipient)),
    );
    sinks.smtp.play('rcpt', { code: 550, text: '5.1.1 no such user' }, { times: 1 });
    const { id } = await sendOne(providerId, { recipient, addressKey: key });
    expect((await post(`/v1/sends/${id}/requeue`)).status).toBe(409);
    expect(await sends().read(id)).toMatchObject({ status: 'rejected', attempt_count: 1 });
  });

  test('a send that is almost too old is queued', async () => {
    const { ids } = await rejected();
    await sends().update(
      ids[0] ?? '',
      `queued_at = now() - interval '${REQUEUE_DAYS_MAX} days' + interval '1 minute'`,
    );
    expect((await post(`/v1/sends/${ids[0]}/requeue`)).status).toBe(200);
  });

  test('404: a send that does not exist, and one of another project', async () => {
    const { ids } = await rejected();
    api.project = await createProject(database.deps, 'another');
    for (const id of [newId(), ids[0]])
      expect((await post(`/v1/sends/${id}/requeue`)).status).toBe(404);
  });
});

describe('POST /v1/rejected-sends/requeue', () => {
  test('200: all of one reason and provider, and no other', async () => {
    const [one, other] = [await rejected(3), await rejected(1)];
    const body = { reason: 'message_refused', provider_id: one.providerId };
    expect((await post('/v1/rejected-sends/requeue', body)).body).toEqual({
      queued: 3,
      has_more: false,
    });
    expect((await post('/v1/rejected-sends/requeue', body)).body).toEqual({
      queued: 0,
      has_more: false,
    });
    expect((await sends().read(other.ids[0] ?? '')).status).toBe('rejected');
    const rest = { reason: 'message_refused' };
    expect((await post('/v1/rejected-sends/requeue', rest)).body).toEqual({
      queued: 1,
      has_more: false,
    });
  });

  test('400: a reason for which no send is rejected', async () => {
    expect(await post('/v1/rejected-sends/requeue', { reason: 'account_blocked' })).toMatchObject({
      status: 400,
      body: { issues: [{ path: '/reason' }] },
    });
  });

  test('a bounded number at a time, the oldest first, until none is left', async () => {
    const planned = ['a', 'b', 'c'].map(() => newSend({ providerId: newId() }));
    for (const send of planned) {
      await sends().plan(send);
      await sends().update(send.sendId, "status = 'rejected', status_reason = 'message_refused'");
    }
    const { project_id: projectId } = api.project;
    const next = () => requeueAll(database.deps, projectId, { reason: 'message_refused' }, 2);
    expect(await next()).toEqual({ queued: 2, has_more: true });
    const states = await Promise.all(planned.map(({ sendId }) => sends().read(sendId)));
    expect(states.map(({ status }) => status)).toEqual(['queued', 'queued', 'rejected']);
    expect(await next()).toEqual({ queued: 1, has_more: false });
  });
});
