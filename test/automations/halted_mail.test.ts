// Mail that is queued when somebody pauses or archives its automation.
import { expect, test } from 'vitest';
import { testDatabase } from '../support/database.ts';
import { handedOver } from './handed_over.ts';
import { automationsThroughApi, mailShown } from './through_api.ts';

const database = testDatabase();
const through = automationsThroughApi(database);
const { post, happen, live } = through;
const { readSend: read, handOver } = handedOver(database, through);

/** An automation that is live, with one mail of it queued. */
const queued = async () => {
  const id = await live({
    trigger: { kind: 'event', event: 'trial_started' },
    settings: { re_entry: 'every_time' },
    entry: 'mail',
    steps: { mail: mailShown() },
  });
  await happen('trial_started');
  return id;
};

test('POST pause 200: it waits, and says so, until the automation is resumed', async () => {
  const id = await queued();
  await post(`/${id}/pause`);
  expect(await handOver(id)).toMatchObject({
    status: 'queued',
    status_reason: 'automation_paused',
    attempts: 0,
    waits_for: { because: 'automation_paused', fix: expect.stringContaining('Resume') },
  });
  await post(`/${id}/resume`);
  expect(await read(id)).toMatchObject({ status: 'queued', status_reason: null, waits_for: null });
  expect(await handOver(id)).toMatchObject({ attempts: 1 });
  await expect.poll(async () => (await read(id)).status).toBe('accepted');
});

test('POST activate 200: a version that is activated while it is paused lets it go on, too', async () => {
  const id = await queued();
  await post(`/${id}/pause`);
  await handOver(id);
  await post(`/${id}/activate`);
  expect(await handOver(id)).toMatchObject({ attempts: 1, status_reason: null });
});

test('POST archive 200: it is cancelled, and not rendered', async () => {
  const id = await queued();
  await post(`/${id}/archive`);
  expect(await handOver(id)).toMatchObject({
    status: 'cancelled',
    status_reason: 'automation_archived',
    attempts: 0,
    subject: null,
  });
});

test('POST archive 200: also what waited while it was paused, once its turn comes', async () => {
  const id = await queued();
  await post(`/${id}/pause`);
  await handOver(id);
  await post(`/${id}/archive`);
  await database.owner.query(
    "update delivery.sends set due_at = now() - interval '1 ms' where automation_id = $1",
    [id],
  );
  expect(await handOver(id)).toMatchObject({
    status: 'cancelled',
    status_reason: 'automation_archived',
  });
});
