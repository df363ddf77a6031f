// The webhook call of a run that ends as merged. A call that is not under way is made only if an undo restores the run.
import { expect, test } from 'vitest';
import * as automations from '../../src/automations/automations.ts';
import * as profiles from '../../src/profiles/profiles.ts';
import { newEvent } from '../ingest/some_events.ts';
import { testDatabase } from '../support/database.ts';
import { workOn } from '../support/work_on.ts';
import { endpointWorlds } from './with_endpoint.ts';

const database = testDatabase();
const { sink, world } = endpointWorlds(database);

/** Ann's run waits for a day; the run of her phone is younger, and its call is queued. */
const enroll = async (): Promise<void> => {
  await world.activate({
    ...world.telling(),
    settings: { re_entry: 'once' },
    entry: 'ready',
    steps: {
      ready: { kind: 'delay', duration: 'P1D', next: 'tell' },
      ...world.telling().steps,
    },
  });
  await world.happen('trial_started');
  const byPhone = { external_id: null, anonymous_id: 'phone', properties: '{}' };
  await world.flush(newEvent({ name: 'trial_started', ...byPhone }));
  await workOn(database, world.projectId);
  await database.owner.query(
    `update automations.runs set wake_at = wake_at - interval '1 day', waits_until = waits_until - interval '1 day'
    where project_id = $1 and identity_id in (
      select identity_id from identity.identities where project_id = $1 and value = 'phone')`,
    [world.projectId],
  );
  await world.work();
  expect(await world.calls()).toMatchObject([{ status: 'queued' }]);
};
const undo = async (): Promise<void> => {
  const [{ link_id }] = await world.select('link_id', 'identity.links');
  await world.within((scope) =>
    profiles.unlinkPeople(scope, link_id, 'console', async (inner, moved) => {
      await automations.followLink(inner, moved);
    }),
  );
  await world.settle();
};
const stands = async (): Promise<string[]> =>
  (await world.select('coalesce(outcome, status) as stand, run_id', 'automations.runs'))
    .toSorted((a, b) => (a.run_id < b.run_id ? -1 : 1))
    .map(({ stand }) => stand as string);

test('a queued call is not made after the merge, and is made once after the undo', async () => {
  await enroll();
  await world.link('phone');
  await world.merge();
  expect(await stands()).toEqual(['active', 'merged']);
  expect(await world.calls()).toMatchObject([{ status: 'waiting', reason: 'run_merged' }]);
  expect(await world.call()).toBe(false);
  await undo();
  expect(await stands()).toEqual(['active', 'active']);
  expect(await world.call()).toBe(true);
  expect(await world.call()).toBe(false);
  expect(sink.requests).toHaveLength(1);
  expect(await stands()).toEqual(['active', 'completed']);
});

test('a call that is under way goes on, and its answer counts for the restored run', async () => {
  await enroll();
  await database.owner.query(
    `update automations.calls set status = 'calling', attempts = 1, lease_until = now() + interval '1 minute'
    where project_id = $1`,
    [world.projectId],
  );
  await world.link('phone');
  await world.merge();
  expect(await world.calls()).toMatchObject([{ status: 'calling' }]);
  await database.owner.query(
    `update automations.calls set status = 'delivered', http_status = 204 where project_id = $1`,
    [world.projectId],
  );
  await undo();
  expect(await stands()).toEqual(['active', 'completed']);
  expect(sink.requests).toEqual([]);
});
