// A deleted automation as a caller of the API has it: what is gone, and what stays.
import { expect, test } from 'vitest';
import { applyFolder, exportFolder } from '../../src/admin/folder/folder.ts';
import { advance } from '../../src/automations/advance.ts';
import { findAutomationByName } from '../../src/automations/queries.ts';
import { inProject } from '../../src/base/db.ts';
import type { Scope } from '../../src/base/db.ts';
import continueCommands from '../../tasks/automations/continue_commands.ts';
import { testDatabase } from '../support/database.ts';
import { eraseNow } from '../support/erase.ts';
import { asWorker } from '../support/work_on.ts';
import { handedOver } from './handed_over.ts';
import { automationsThroughApi, mailShown } from './through_api.ts';

const database = testDatabase();
const through = automationsThroughApi(database);
const { api, ask, get, post, happen, live, make } = through;
const { readSend, handOver } = handedOver(database, through);

const within = <T>(work: (scope: Scope) => Promise<T>): Promise<T> =>
  inProject(database.deps, api.project.project_id, work);
const definition = {
  trigger: { kind: 'event' as const, event: 'trial_started' },
  settings: { re_entry: 'every_time' as const },
  entry: 'mail',
  steps: { mail: mailShown('rest'), rest: { kind: 'delay' as const, duration: 'P1D', next: null } },
};
const remove = (id: string) => ask('DELETE', `/v1/automations/${id}`);
/** What a worker does until the delete is done. */
const finish = async (id: string): Promise<void> => {
  const payload = { project_id: api.project.project_id, automation_id: id };
  const { owner } = database;
  const isLeft = async () =>
    (await owner.query('select from automations.automations where automation_id = $1', [id]))
      .rowCount === 1;
  for (let pieces = 0; (await isLeft()) && pieces < 20; pieces += 1)
    await continueCommands(asWorker(database))(payload, undefined as never);
  expect(await isLeft()).toBe(false);
};
/** Lists the automations of the project but the one that it begins with. */
const listMade = async (): Promise<{ id: string; name: string }[]> =>
  (await get('')).items.filter(({ name }: { name: string }) => name === 'Made');
const CANCELLED = { status: 'cancelled', status_reason: 'automation_deleted', attempts: 0 };

test.each(['draft', 'active', 'paused', 'archived'])(
  '200: one that is %s is deleted, and nothing finds it any more',
  async (status) => {
    const id = await make(definition);
    if (status !== 'draft') await post(`/${id}/activate`);
    await happen('trial_started');
    if (status === 'paused') await post(`/${id}/pause`);
    if (status === 'archived') await post(`/${id}/archive`);
    const answer = await remove(id);
    expect([answer.status, answer.body]).toEqual([200, { id, deleted: true }]);
    const isGone = async () => {
      expect((await remove(id)).status).toBe(404);
      expect((await ask('GET', `/v1/automations/${id}`)).status).toBe(404);
      expect((await ask('GET', `/v1/automations/${id}/runs`)).status).toBe(404);
      expect((await ask('PATCH', `/v1/automations/${id}`, { name: 'Again' })).status).toBe(404);
      for (const verb of ['activate', 'pause', 'resume', 'archive', 'move', 'retry'])
        expect((await ask('POST', `/v1/automations/${id}/${verb}`)).status).toBe(404);
      expect(await listMade()).toEqual([]);
      expect(await within((scope) => findAutomationByName(scope, 'Made'))).toBeNull();
      const folder = await within((scope) => exportFolder(scope));
      expect([...folder.keys()].join()).not.toContain('automations/made');
    };
    await isGone();
    await happen('trial_started');
    await finish(id);
    await isGone();
  },
);

test('200: queued email is cancelled and says why, and what was sent stays', async () => {
  const id = await live(definition);
  await happen('trial_started');
  await handOver(id);
  const sent = await readSend(id);
  expect(sent).toMatchObject({ attempts: 1 });
  await happen('trial_started');
  const queued = (await ask('GET', `/v1/sends?automation_id=${id}&status=queued`)).body.items;
  expect(queued).toHaveLength(1);
  await remove(id);
  await finish(id);
  const { items } = (await ask('GET', `/v1/sends?automation_id=${id}`)).body;
  expect(items).toHaveLength(2);
  expect((await ask('GET', `/v1/sends/${queued[0].id}`)).body).toMatchObject(CANCELLED);
  const explained = (await ask('GET', `/v1/sends/${queued[0].id}/explain`)).body;
  expect(explained.stopped_by).toMatchObject({ decision: 'automation_deleted' });
  expect((await ask('GET', `/v1/sends/${sent.id}`)).body).toEqual(sent);
  expect((await ask('GET', `/v1/sends/${sent.id}/explain`)).status).toBe(200);
  const { rows } = await database.owner.query(
    'select distinct automation from analytics.sends where automation_id = $1',
    [id],
  );
  expect(rows).toEqual([{ automation: '(deleted)' }]);
});

test('200: a send whose outcome was unknown is not sent again', async () => {
  const id = await live(definition);
  await happen('trial_started');
  await remove(id);
  await finish(id);
  await database.owner.query(
    `update delivery.sends set status = 'queued', status_reason = null,
      due_at = now() - interval '1 second' where automation_id = $1`,
    [id],
  );
  expect(await handOver(id)).toMatchObject(CANCELLED);
});

test('200: email that a worker plans while it is deleted does not go', async () => {
  const id = await live(definition);
  await ask('POST', '/v1/events', { event: 'trial_started', external_id: 'ann' });
  await api.processEvents();
  await database.owner.query(
    `update automations.runs set status = 'active', step_id = 'mail', wake_at = now() - interval '1 second',
      waits_until = null
    where automation_id = $1`,
    [id],
  );
  await database.owner.query('delete from delivery.sends where automation_id = $1', [id]);
  const planned = Promise.withResolvers<void>();
  const committing = Promise.withResolvers<void>();
  const walking = within(async (scope) => {
    await advance(scope);
    planned.resolve();
    await committing.promise;
  });
  await planned.promise;
  expect((await remove(id)).status).toBe(200);
  committing.resolve();
  await walking;
  expect(await handOver(id)).toMatchObject(CANCELLED);
  await finish(id);
  expect(await readSend(id)).toMatchObject(CANCELLED);
});

test('200: a person inside can be exported and erased, before and after the last piece', async () => {
  const id = await live(definition);
  for (const name of ['ann', 'bob']) await happen('trial_started', {}, name);
  await remove(id);
  const profileIdOf = async (name: string): Promise<string> =>
    (
      await database.owner.query(
        'select profile_id from identity.identities where project_id = $1 and value = $2',
        [api.project.project_id, name],
      )
    ).rows[0].profile_id;
  const check = async (name: string) => {
    const profileId = await profileIdOf(name);
    expect((await ask('GET', `/v1/profiles/${profileId}/export`)).status).toBe(200);
    await eraseNow(database, api.project.project_id, profileId);
    expect((await ask('GET', `/v1/profiles/${profileId}`)).status).toBe(404);
  };
  await check('ann');
  await finish(id);
  await check('bob');
});

test('200: a folder that has it makes it anew, while the last pieces are left', async () => {
  const id = await live(definition);
  await happen('trial_started');
  const folder = await within((scope) => exportFolder(scope));
  await remove(id);
  await within((scope) => applyFolder(scope, folder));
  const [made, ...others] = await listMade();
  expect([made, others]).toMatchObject([{ status: 'draft', latest_version: 1 }, []]);
  expect(made?.id).not.toBe(id);
  await finish(id);
  expect(await listMade()).toHaveLength(1);
});
