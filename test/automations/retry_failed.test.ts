// A run that failed on our side is not lost: somebody has it go on, and what it did before is not done again.
import { afterEach, expect, test } from 'vitest';
import { RUN_FAILURES_MAX } from '../../src/automations/automations.ts';
import type { NewDefinition } from '../../src/automations/schema.ts';
import { expectRefusal } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { eraseNow } from '../support/erase.ts';
import { automationsThroughApi, mailShown } from './through_api.ts';

const database = testDatabase();
const { api, ask, get, post, happen, live, pass, set, work } = automationsThroughApi(database);

const EVENT = 'trial_started';
/** Two mails with a day between; the second cannot be planned, as a bug of ours would have it. */
const series: NewDefinition = {
  trigger: { kind: 'event', event: EVENT },
  settings: { re_entry: 'once' },
  entry: 'first',
  steps: {
    first: mailShown('wait'),
    wait: { kind: 'delay', duration: 'P1D', next: 'second' },
    second: mailShown(),
  },
};
const mend = () =>
  database.owner.query('alter table delivery.sends drop constraint if exists a_bug');
afterEach(mend);

/** An automation in which the runs of some people failed at their second mail. */
const failed = async (...people: string[]): Promise<string> => {
  const id = await live(series);
  for (const who of people) {
    await ask('POST', '/v1/identify', {
      external_id: who,
      traits: { email: `${who}@example.com` },
    });
    await happen(EVENT, {}, who);
  }
  await database.owner.query(
    `alter table delivery.sends add constraint a_bug check (step_id <> 'second') not valid`,
  );
  await pass('0');
  await set(`update automations.runs set failure_count = ${RUN_FAILURES_MAX - 1}`);
  await pass('1 day');
  return id;
};
const listFailed = async (id: string) => (await get(`/${id}/runs?status=failed`)).items;
const stepsSent = async (id: string) => {
  const { items } = (await ask('GET', `/v1/sends?automation_id=${id}`)).body;
  return items.map(({ step_id }: { step_id: string }) => step_id).toReversed();
};
const explained = (id: string) => get(`/${id}/explain?profile_id=external_id:ann`);

test('POST 200: it goes on at its step, and each mail is planned once', async () => {
  const id = await failed('ann');
  expect(await listFailed(id)).toMatchObject([{ status: 'failed', step_id: 'wait' }]);
  expect((await explained(id)).stopped_by).toMatchObject({ decision: 'run_failed' });
  await mend();
  expect(await post(`/${id}/retry`)).toEqual({ failed: 0 });
  await work();
  expect(await stepsSent(id)).toEqual(['first', 'second']);
  expect(await listFailed(id)).toEqual([]);
  const { decisions, stopped_by } = await explained(id);
  expect(stopped_by).toBeNull();
  expect(decisions.map(({ decision }: { decision: string }) => decision)).toEqual([
    'entered',
    'send_queued',
    'delayed',
    'run_failed',
    'run_retried',
    'delay_over',
    'send_queued',
  ]);
});

test('one by its id, the rest together; who is asked for again has not failed any more', async () => {
  const id = await failed('ann', 'ben', 'cleo');
  await mend();
  const [{ id: run_id }] = await listFailed(id);
  for (const _ of [1, 2]) expect(await post(`/${id}/retry`, { run_id })).toEqual({ failed: 2 });
  const both = await Promise.all([post(`/${id}/retry`), post(`/${id}/retry`)]);
  expect(both).toEqual([{ failed: 0 }, { failed: 0 }]);
  await work();
  expect(await stepsSent(id)).toEqual(['first', 'first', 'first', 'second', 'second', 'second']);
});

test('one that fails again has as many tries as before', async () => {
  const id = await failed('ann');
  await post(`/${id}/retry`);
  await work();
  expect(await listFailed(id)).toEqual([]);
  const { rows } = await set('select status, failure_count from automations.runs');
  expect(rows).toEqual([{ status: 'active', failure_count: 1 }]);
});

test('one that failed longer ago than expires_after expires, as after a pause', async () => {
  const id = await failed('ann');
  await mend();
  await set(`update automations.runs set wake_at = now() - interval '73 hours'`);
  await post(`/${id}/retry`);
  await work();
  expect(await stepsSent(id)).toEqual(['first']);
  expect((await explained(id)).stopped_by).toMatchObject({ decision: 'step_expired' });
});

test('in a paused automation it is frozen, and goes on when that is resumed', async () => {
  const id = await failed('ann');
  await mend();
  await post(`/${id}/pause`);
  expect(await post(`/${id}/retry`)).toEqual({ failed: 0 });
  await work();
  expect(await stepsSent(id)).toEqual(['first']);
  await post(`/${id}/resume`);
  await work();
  expect(await stepsSent(id)).toEqual(['first', 'second']);
});

test('POST 409: an archived automation lets nobody go on; 400: a run of another', async () => {
  const id = await failed('ann');
  const other = await live(series);
  const [{ id: run_id }] = await listFailed(id);
  const key = api.project.server_key;
  const stranger = await api.call('POST', `/v1/automations/${other}/retry`, {
    key,
    body: { run_id },
  });
  expectRefusal(stranger, 'invalid_request');
  expect(stranger.body.issues).toMatchObject([{ path: '/run_id' }]);
  await post(`/${id}/archive`);
  expectRefusal(await api.call('POST', `/v1/automations/${id}/retry`, { key }), 'automation_state');
  expect(await listFailed(id)).toHaveLength(1);
});

test('whoever is erased is not had to go on, and nothing is left of where a test was sent', async () => {
  const id = await failed('ann');
  await set("update automations.runs set test_recipient = 'me@example.com'");
  const profile = await ask('GET', '/v1/profiles/external_id:ann');
  await eraseNow(database, api.project.project_id, profile.body.id);
  await mend();
  expect(await post(`/${id}/retry`)).toEqual({ failed: 0 });
  await work();
  expect(await stepsSent(id)).toEqual(['first']);
  const { rows } = await set('select status, outcome, test_recipient from automations.runs');
  expect(rows).toEqual([{ status: 'ended', outcome: 'erased', test_recipient: null }]);
});
