// What a repeated request is told of somebody: as they are by now, and nothing of whoever is erased.
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { newSend, sendsOf } from '../delivery/one_send.ts';
import { expectRefusal, testApi } from '../support/api.ts';
import type { Answer } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { askToErase, eraseNow, runErasure } from '../support/erase.ts';

const database = testDatabase();
const api = testApi(database);

const post = (path: string, key: string, body?: object): Promise<Answer> =>
  api.call('POST', path, {
    key: api.project.server_key,
    headers: { 'idempotency-key': key },
    ...(body === undefined ? {} : { body }),
  });
const isReplayed = ({ headers }: Answer) => headers.get('idempotency-replayed') === 'true';

/** A person with a device that a link made theirs, asked for with an Idempotency-Key. */
const linked = async () => {
  const [ann, device, once] = [newId(), newId(), randomUUID()];
  await post('/v1/identify', randomUUID(), { external_id: ann, traits: { email: `${ann}@x.org` } });
  await post('/v1/events', randomUUID(), { event: 'seen', anonymous_id: device });
  await api.processEvents();
  const alias = () => post('/v1/identify/alias', once, { anonymous_id: device, external_id: ann });
  const first = await alias();
  const { id: linkId, profile_id: profileId } = first.body.link as {
    id: string;
    profile_id: string;
  };
  const erase = () => eraseNow(database, api.project.project_id, profileId);
  return { ann, device, alias, first, linkId, profileId, erase };
};

/** What a request with an Idempotency-Key left behind, as the table has it. */
const listKept = async () => {
  const { rows } = await database.owner.query<{ length: number }>(
    'select length(answer) as length from http.idempotency_keys where answer is not null',
  );
  return rows.map(({ length }) => length);
};

describe('a link', () => {
  test('200: is told again as it is by now', async () => {
    const { alias, first, linkId } = await linked();
    const again = await alias();
    expect([again.status, isReplayed(again), again.body]).toEqual([200, true, first.body]);
    await post(`/v1/identity-links/${linkId}/undo`, randomUUID());
    expect((await alias()).body.link).toMatchObject({ id: linkId, status: 'undone' });
  });

  test('404 not_found: is not told again, nor made again, while its person is erased and after', async () => {
    const { ann, alias, profileId } = await linked();
    const projectId = api.project.project_id;
    const erasureId = await askToErase(database, projectId, profileId);
    expectRefusal(await alias(), 'not_found');
    await runErasure(database, projectId, erasureId);
    expectRefusal(await alias(), 'not_found');
    const { rows } = await database.owner.query(
      'select from identity.identities where value = $1',
      [ann],
    );
    expect(rows).toEqual([]);
  });

  test('404 not_found: nor is its undoing, with the people that it made', async () => {
    const { linkId, erase } = await linked();
    const once = randomUUID();
    const undo = () => post(`/v1/identity-links/${linkId}/undo`, once);
    const first = await undo();
    expect(first.body.profiles).toHaveLength(2);
    const again = await undo();
    expect([isReplayed(again), again.body]).toEqual([true, first.body]);
    await erase();
    expectRefusal(await undo(), 'not_found');
  });
});

describe('an erasure', () => {
  test('202: is told again as it is by now: done, with its receipt, without its reason', async () => {
    const { ann, profileId } = await linked();
    const once = randomUUID();
    const erase = () => post(`/v1/profiles/${profileId}/erase`, once, { reason: `${ann} asked` });
    const { body } = await erase();
    expect((await erase()).body).toEqual(body);
    expect(body.erasure).toMatchObject({ reason: `${ann} asked`, status: 'pending' });
    await runErasure(database, api.project.project_id, body.erasure.id as string);
    const again = await erase();
    expect([again.status, isReplayed(again)]).toEqual([202, true]);
    expect(again.body.erasure).toMatchObject({ id: body.erasure.id, status: 'done' });
    expect(again.body.erasure.receipt.digest).toMatch(/^hmac-sha256:/);
    expect(JSON.stringify(again.body)).not.toContain(ann);
  });

  test('202: also by a name that nobody has any more', async () => {
    const { ann } = await linked();
    const once = randomUUID();
    const erase = () => post(`/v1/profiles/external_id:${ann}/erase`, once, { reason: 'Gone' });
    const { body } = await erase();
    await runErasure(database, api.project.project_id, body.erasure.id as string);
    expect((await erase()).body.erasure).toMatchObject({ id: body.erasure.id, status: 'done' });
    expectRefusal(
      await post(`/v1/profiles/external_id:${ann}/erase`, randomUUID(), { reason: 'Gone' }),
      'not_found',
    );
  });
});

describe('a preview for somebody', () => {
  test('404 not_found: is made afresh, and shows nobody once they are erased', async () => {
    const { ann, erase } = await linked();
    await api.processEvents();
    const once = randomUUID();
    const template = { name: 'M', subject: 'For {{ profile.email }}', html: '<p>Hi</p>' };
    const show = () =>
      post(`/v1/projects/${api.project.project_id}/template-previews`, once, {
        template,
        profile_id: `external_id:${ann}`,
      });
    await database.owner.query('delete from http.idempotency_keys');
    const first = await show();
    expect([first.status, first.body.subject]).toEqual([200, `For ${ann}@x.org`]);
    expect(await listKept()).toEqual([]);
    await erase();
    const again = await show();
    expect([isReplayed(again), JSON.stringify(again.body)]).toEqual([
      false,
      expect.not.stringContaining(`${ann}@`),
    ]);
  });
});

describe('a send', () => {
  test('200: is told again as it is by now: without whom it was for once they are erased', async () => {
    const projectId = api.project.project_id;
    const { profileId, erase } = await linked();
    const recipient = `${newId()}@x.org`;
    const { sendId } = newSend({ profileId, recipient });
    await sendsOf(database, projectId).plan(newSend({ sendId, profileId, recipient }));
    const once = randomUUID();
    const cancel = () => post(`/v1/sends/${sendId}/cancel`, once);
    const first = await cancel();
    expect(first.body).toMatchObject({ id: sendId, to: recipient, status: 'cancelled' });
    const again = await cancel();
    expect([isReplayed(again), again.body]).toEqual([true, first.body]);
    await erase();
    const erased = await cancel();
    expect([erased.status, isReplayed(erased)]).toEqual([200, true]);
    expect(erased.body).toEqual({ ...first.body, to: null });
  });
});

describe('an address', () => {
  test.each([
    ['/v1/suppressions', '/lift', { reason: 'ann asked' }],
    ['/v1/unsubscribes', '/resubscribe', undefined],
  ] as const)(
    '2xx: what was done at %s is told again without it once it is erased',
    async (path, free, said) => {
      const { ann, erase } = await linked();
      const email = `${ann}@x.org`;
      const once = randomUUID();
      const stop = () => post(path, once, { email, note: 'ann wrote' });
      const release = () => post(`${path}/${email}${free}`, once, said);
      const stopped = await stop();
      expect(stopped.body).toMatchObject({ email, history: [{ note: 'ann wrote' }] });
      const again = await stop();
      expect([again.status, isReplayed(again), again.body]).toEqual([201, true, stopped.body]);
      const released = await release();
      expect([(await release()).body, (await stop()).body]).toEqual([released.body, released.body]);
      await erase();
      for (const told of [await stop(), await release()]) {
        expect([told.status < 300, isReplayed(told)]).toEqual([true, true]);
        expect(told.body.history).toHaveLength(2);
        expect(JSON.stringify(told.body)).not.toMatch(new RegExp(`${ann}|wrote|asked`));
      }
    },
  );
});

test('what is kept of an answer that tells of somebody is an id, however much they have', async () => {
  const { linkId } = await linked();
  await database.owner.query('delete from http.idempotency_keys');
  await post(`/v1/identity-links/${linkId}/undo`, randomUUID());
  const [length] = await listKept();
  expect(length).toBeLessThan(120);
});
