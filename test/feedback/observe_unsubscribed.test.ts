// Somebody leaves by the link of a mail, or by somebody who says so for them: their timeline says it once.
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import {
  addressKey,
  eraseAddresses,
  makeUnsubscribeToken,
} from '../../src/suppression/suppression.ts';
import { newSend, sendsOf } from '../delivery/one_send.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const api = testApi(database);
const call = (method: string, path: string, body?: object, headers = {}) =>
  api.call(method, path, { key: api.project.server_key, headers, ...(body ? { body } : {}) });

/** Somebody with an address of their own, or with that of somebody else. */
const somebody = async (email = `${newId()}@example.net`) => {
  const external_id = newId();
  await call('POST', '/v1/identify', { external_id, traits: { email } });
  const { body } = await call('GET', `/v1/profiles/external_id:${external_id}`);
  const timeline = async () => {
    await api.processEvents();
    const path = `/v1/profiles/${body.id}/events`;
    return (await call('GET', path)).body.items as object[];
  };
  return { email, profileId: body.id as string, timeline };
};

/** A mail to somebody, and the token of its link. */
const mailTo = async ({ email, profileId }: { email: string; profileId: string }) => {
  const { project_id: projectId } = api.project;
  const key = addressKey({ keys: database.deps.keys, projectId }, email);
  const send = newSend({ recipient: email, addressKey: key, profileId });
  await sendsOf(database, projectId).plan(send);
  const link = { projectId, addressKey: key, sendId: send.sendId };
  return { send, key, token: makeUnsubscribeToken(database.deps.keys, link) };
};
const press = async (token: string, body = 'List-Unsubscribe=One-Click') => {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const { status } = await fetch(`${api.url}/u/${token}`, { method: 'POST', body, headers });
  expect(status).toBe(200);
};
const countWaiting = async () =>
  (
    await database.owner.query('select from ingest.pending where project_id = $1', [
      api.project.project_id,
    ])
  ).rowCount;

test('a link is pressed: the person of its mail left once, however often it is pressed', async () => {
  const ann = await somebody();
  const namesake = await somebody(ann.email);
  const { send, token } = await mailTo(ann);
  for (let times = 0; times < 3; times += 1) await press(token);
  await Promise.all(Array.from({ length: 20 }, () => press(token)));
  expect(await ann.timeline()).toEqual([
    expect.objectContaining({
      event: 'email_unsubscribed',
      source: 'system',
      properties: { by: 'link', send_id: send.sendId, automation_id: send.automationId },
    }),
  ]);
  expect(await namesake.timeline()).toEqual([]);
});

test('who comes back and leaves again left twice; coming back is no event', async () => {
  const ann = await somebody();
  const { token } = await mailTo(ann);
  for (const body of [undefined, 'action=resubscribe', 'action=resubscribe', undefined])
    await press(token, body);
  expect(await ann.timeline()).toHaveLength(2);
});

test('by the API, everybody with the address left: once per change, also when it is asked again', async () => {
  const ann = await somebody();
  const namesake = await somebody(ann.email);
  const again = { 'idempotency-key': randomUUID() };
  for (let times = 0; times < 2; times += 1)
    await call('POST', '/v1/unsubscribes', { email: ann.email.toUpperCase() }, again);
  await call('POST', '/v1/unsubscribes', { email: ann.email });
  for (const one of [ann, namesake])
    expect(await one.timeline()).toEqual([
      expect.objectContaining({
        event: 'email_unsubscribed',
        source: 'system',
        properties: { by: 'api' },
      }),
    ]);
});

test('a link and the API say the same: it is one change', async () => {
  const ann = await somebody();
  const { token } = await mailTo(ann);
  await press(token);
  await call('POST', '/v1/unsubscribes', { email: ann.email });
  expect(await ann.timeline()).toHaveLength(1);
});

test('who is erased leaves, and nothing is said of it', async () => {
  const ann = await somebody();
  const { token, key } = await mailTo(ann);
  const projectId = api.project.project_id;
  await inProject(database.deps, projectId, (scope) => eraseAddresses(scope, [key]));
  const before = await countWaiting();
  await press(token);
  expect(await countWaiting()).toBe(before);
});

test('a mail that is gone is not named, and an address that nobody has is told to nobody', async () => {
  const ann = await somebody();
  const { key } = await mailTo(ann);
  const link = { projectId: api.project.project_id, addressKey: key, sendId: newId() };
  await press(makeUnsubscribeToken(database.deps.keys, link));
  expect(await ann.timeline()).toEqual([
    expect.objectContaining({ event: 'email_unsubscribed', properties: { by: 'link' } }),
  ]);
  const before = await countWaiting();
  await call('POST', '/v1/unsubscribes', { email: 'nobody-here@example.net' });
  expect(await countWaiting()).toBe(before);
});

test('an unsubscribe wakes whoever works on timelines, after its commit', async () => {
  const ann = await somebody();
  await database.owner.query('delete from graphile_worker._private_jobs');
  await call('POST', '/v1/unsubscribes', { email: ann.email });
  await expect
    .poll(async () =>
      (await database.owner.query('select task_identifier from graphile_worker.jobs')).rows.map(
        (row: { task_identifier: string }) => row.task_identifier,
      ),
    )
    .toContain('ingest/process_events');
});
