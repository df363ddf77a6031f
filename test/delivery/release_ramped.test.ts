import { expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { sendQueued } from '../../src/delivery/delivery.ts';
import { takeBounce } from '../../src/feedback/feedback.ts';
import { saveTemplate } from '../../src/rendering/rendering.ts';
import { counterparts, fieldsOf, providersOf } from '../providers/counterparts.ts';
import { ownApi } from '../support/own_api.ts';
import { NEVER, testDatabase } from '../support/database.ts';
import type { NewSend } from '../../src/delivery/queries.ts';
import { newSend, OWNER, sendsOf } from './one_send.ts';

const database = testDatabase();
const sinks = counterparts(database);
const api = ownApi(database);
const { create, change } = providersOf(api);
const today = (): string => new Date().toISOString().slice(0, 10);

/** A provider with a ramp of so many a day, and how its sends stand. */
const ramped = async (sendsOfDay: number) => {
  const { project_id: projectId } = api.project;
  const given = { ramp: { started_on: today(), stages: [sendsOfDay, sendsOfDay] } };
  const { id: providerId } = (await create(fieldsOf(sinks, 'smtp', given))).body;
  const templateId = await inProject(database.deps, projectId, (scope) =>
    saveTemplate(scope, { name: 'W', subject: 'W', html: '<p>W</p>', text: null }),
  );
  const automationId = newId();
  const plan = async (recipient: string, limits: NewSend['limits'] = null): Promise<string> => {
    const send = newSend({
      providerId,
      automationId,
      templateId,
      recipient: `${recipient}@example.test`,
      limits,
    });
    await sendsOf(database, projectId).plan(send);
    return send.sendId;
  };
  const work = () =>
    sendQueued(database.deps, { projectId, providerId, owner: OWNER, signal: NEVER, takeBounce });
  const stand = async () =>
    (
      await database.owner.query<{ status: string; status_reason: string | null; is_due: boolean }>(
        `select status, status_reason, due_at <= now() as is_due from delivery.sends
         where provider_id = $1 order by send_id`,
        [providerId],
      )
    ).rows.map(({ status, status_reason, is_due }) =>
      status === 'queued' ? `${status_reason ?? 'queued'}${is_due ? ', due' : ''}` : status,
    );
  return { providerId, plan, work, stand };
};

/** One of which a day has used the ramp of one. */
const warmingUp = async () => {
  const provider = await ramped(1);
  const { plan, work, stand } = provider;
  for (const recipient of ['a', 'b', 'c', 'd']) await plan(recipient);
  await work();
  await work();
  await expect.poll(stand).toEqual(['accepted', 'ramp', 'ramp', 'ramp']);
  return provider;
};

test('attack: sign-ups of a page leave a quarter of a day to email of servers', async () => {
  const { plan, work, stand } = await ramped(8);
  const ofPage = { browser_triggered: true as const, zone: 'UTC' };
  for (let at = 0; at < 8; at += 1) await plan(`page-${at}`, ofPage);
  await work();
  await work();
  const gone = Array.from({ length: 6 }, () => 'accepted');
  await expect.poll(stand).toEqual([...gone, 'ramp', 'ramp']);
  await plan('order');
  await work();
  await expect.poll(stand).toEqual([...gone, 'ramp', 'ramp', 'accepted']);
});

test('PATCH 200: without the ramp, what it held is due at once, before what is newer', async () => {
  const { providerId, plan, work, stand } = await warmingUp();
  await plan('newer');
  expect((await change(providerId, { ramp: null, rate_per_second: 10 })).status).toBe(200);
  expect((await stand()).slice(1)).toEqual(Array.from({ length: 4 }, () => 'queued, due'));
  const { rows } = await database.owner.query(
    `select recipient from delivery.sends where project_id = $1 and status = 'queued' order by due_at, send_id`,
    [api.project.project_id],
  );
  expect(rows.at(-1)).toEqual({ recipient: 'newer@example.test' });
  await work();
  await sinks.smtp.waitFor(5);
  await expect.poll(stand).toEqual(Array.from({ length: 5 }, () => 'accepted'));
});

test('PATCH 200: with a higher ramp, as many as it has room for go, and the rest waits again', async () => {
  const { providerId, work, stand } = await warmingUp();
  await change(providerId, { ramp: { started_on: today(), stages: [4, 4] } });
  await work();
  await work();
  await expect.poll(stand).toEqual(['accepted', 'accepted', 'accepted', 'ramp']);
});

test('PATCH 200: more than a transaction takes is let go, and what waits for a retry is not', async () => {
  const { providerId, plan, stand } = await warmingUp();
  const { project_id: projectId } = api.project;
  const retried = await plan('retried');
  await database.owner.query(
    `update delivery.sends set status_reason = 'throttled', due_at = now() + interval '1 hour' where send_id = $1`,
    [retried],
  );
  await database.owner.query(
    `insert into delivery.sends (project_id, send_id, automation_id, run_id, step_id, profile_id, provider_id,
       template_id, template_version, address_key, recipient, status, status_reason, due_at, queued_at,
       expires_at)
     select project_id, gen_random_uuid(), automation_id, gen_random_uuid(), step_id, profile_id, provider_id,
       template_id, template_version, address_key, recipient, status, status_reason, due_at, queued_at,
       expires_at
     from delivery.sends, generate_series(1, 999) where project_id = $1 and status_reason = 'ramp'`,
    [projectId],
  );
  await change(providerId, { ramp: null });
  const counts = Object.groupBy(await stand(), (one) => one);
  expect(counts['ramp']).toBeUndefined();
  expect(counts['queued, due']).toHaveLength(3_000);
  expect(counts['throttled']).toHaveLength(1);
});
