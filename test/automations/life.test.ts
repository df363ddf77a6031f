// From draft to archive: what happens to whoever is inside.
import { describe, expect, test } from 'vitest';
import type { NewDefinition } from '../../src/automations/schema.ts';
import { expectRefusal } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { automationsThroughApi, mailShown } from './through_api.ts';

const database = testDatabase();
const { ask, get, post, happen, make, live, pass } = automationsThroughApi(database);

const delayed = (more: object = {}, settings: NewDefinition['settings'] = {}): NewDefinition => ({
  trigger: { kind: 'event', event: 'trial_started' },
  settings: { re_entry: 'every_time', ...settings },
  entry: 'wait',
  steps: { wait: { kind: 'delay', duration: 'P1D', next: 'mail' }, mail: mailShown(), ...more },
});
const runsOf = async (id: string) => (await get(`/${id}/runs`)).items;

describe('versions', () => {
  test('are made under an optimistic lock: who did not see the latest is refused', async () => {
    const id = await make(delayed());
    const next = { after_version: 1, definition: delayed({}, { re_entry: 'once' }) };
    expect(await post(`/${id}/versions`, next)).toMatchObject({ latest_version: 2 });
    const other = { after_version: 1, definition: delayed({}, { category: 'transactional' }) };
    const late = await ask('POST', `/v1/automations/${id}/versions`, other);
    expectRefusal(late, 'automation_changed');
    expect(late.body.detail).toContain('latest version is 2, not 1');
    expect(await post(`/${id}/versions`, next)).toMatchObject({ latest_version: 2 });
  });

  test('that are activated are frozen: people inside stay on theirs until they are moved', async () => {
    const id = await live(delayed());
    await happen('trial_started');
    const more = { mail: mailShown('again'), again: mailShown() };
    await post(`/${id}/versions`, { after_version: 1, definition: delayed(more) });
    await post(`/${id}/activate`);
    await happen('trial_started', {}, 'ben');
    expect((await runsOf(id)).map(({ version }: { version: number }) => version)).toEqual([2, 1]);
    expect(await post(`/${id}/move`)).toEqual({ on_it: 2, stayed: 0, left: 0, version: 2 });
    await pass('1 day');
    const { rows } = await database.owner.query(
      `select step_id from delivery.sends where automation_id = $1 order by step_id`,
      [id],
    );
    // Ben has no address.
    expect(rows).toEqual([{ step_id: 'again' }, { step_id: 'mail' }]);
  });

  test('who is moved waits for what the active version waits for', async () => {
    const waits = (event: string): NewDefinition => ({
      ...delayed(),
      steps: {
        wait: { kind: 'wait_for_event', event, timeout: 'P7D', next: 'mail', on_timeout: null },
        mail: mailShown(),
      },
    });
    const id = await live(waits('paid'));
    await happen('trial_started');
    await post(`/${id}/versions`, { after_version: 1, definition: waits('project_created') });
    await post(`/${id}/activate`);
    await post(`/${id}/move`);
    await pass('0');
    await happen('paid');
    expect(await runsOf(id)).toMatchObject([{ status: 'active', version: 2 }]);
    await happen('project_created');
    expect(await runsOf(id)).toMatchObject([{ status: 'ended', outcome: 'completed' }]);
  });

  test('who is at a step that the active version does not have stays on theirs', async () => {
    const id = await live(delayed());
    await happen('trial_started');
    const { steps: _, ...rest } = delayed();
    const other = { ...rest, entry: 'mail', steps: { mail: mailShown() } };
    await post(`/${id}/versions`, { after_version: 1, definition: other });
    await post(`/${id}/activate`);
    expect(await post(`/${id}/move`)).toEqual({ on_it: 0, stayed: 1, left: 0, version: 2 });
  });

  test('400: what they name of other rooms has to be there, each with its step', async () => {
    const nothing = '01890000-0000-7000-8000-000000000000';
    const mail = { ...mailShown(), provider_id: nothing, template_version: 9 };
    const body = { name: 'a', definition: delayed({ mail }) };
    const issues = expectRefusal(await ask('POST', '/v1/automations', body), 'invalid_request');
    expect(issues.map(({ path }) => path)).toEqual([
      '/definition/steps/mail/provider_id',
      '/definition/steps/mail/template_id',
    ]);
    expect(issues[0]?.message).toContain('the step "mail"');
  });
});

describe('pausing', () => {
  test('starts nobody and freezes people where they are; resuming runs what is overdue', async () => {
    const id = await live(delayed());
    await happen('trial_started');
    expect(await post(`/${id}/pause`)).toMatchObject({ status: 'paused' });
    await happen('trial_started', {}, 'ben');
    await pass('2 days');
    expect(await runsOf(id)).toMatchObject([{ status: 'paused', step_id: 'wait' }]);
    expect(await post(`/${id}/resume`)).toMatchObject({ status: 'active' });
    await pass('0');
    expect(await runsOf(id)).toMatchObject([{ status: 'ended', outcome: 'completed' }]);
  });

  test('for longer than expires_after: overdue steps are not done any more', async () => {
    const id = await live(delayed({}, { expires_after: 'PT72H' }));
    await happen('trial_started');
    await post(`/${id}/pause`);
    await pass('4 days 1 hour');
    await post(`/${id}/resume`);
    await pass('0');
    expect(await runsOf(id)).toMatchObject([{ status: 'ended', outcome: 'expired' }]);
  });

  test('twice is the same as once, and so is resuming; a draft has nothing to pause', async () => {
    const id = await live(delayed());
    const paused = await post(`/${id}/pause`);
    expect(await post(`/${id}/pause`)).toEqual(paused);
    const resumed = await post(`/${id}/resume`);
    expect(await post(`/${id}/resume`)).toEqual(resumed);
    const draft = await make(delayed());
    for (const verb of ['pause', 'resume'])
      expectRefusal(await ask('POST', `/v1/automations/${draft}/${verb}`, {}), 'automation_state');
  });

  test('what a person did meanwhile counts when their run goes on', async () => {
    const id = await live({
      ...delayed(),
      entry: 'wait',
      steps: {
        wait: {
          kind: 'wait_for_event',
          event: 'paid',
          timeout: 'P7D',
          next: null,
          on_timeout: 'mail',
        },
        mail: mailShown(),
      },
    });
    await happen('trial_started');
    await post(`/${id}/pause`);
    await happen('paid');
    await post(`/${id}/resume`);
    await pass('0');
    expect(await runsOf(id)).toMatchObject([{ outcome: 'completed' }]);
    const { rows } = await database.owner.query(
      'select step_id from delivery.sends where automation_id = $1',
      [id],
    );
    expect(rows).toEqual([]);
  });
});

test('archiving ends it for good, with everybody inside; their runs stay', async () => {
  const id = await live(delayed());
  await happen('trial_started');
  expect(await post(`/${id}/archive`)).toMatchObject({ status: 'archived' });
  await happen('trial_started', {}, 'ben');
  expect(await runsOf(id)).toMatchObject([{ status: 'ended', outcome: 'archived' }]);
  expectRefusal(await ask('POST', `/v1/automations/${id}/activate`, {}), 'automation_state');
});

describe('by hand', () => {
  const manual: NewDefinition = {
    trigger: { kind: 'manual' },
    settings: {},
    entry: 'mail',
    steps: { mail: mailShown() },
  };

  test('a run is started for one person, as often as re_entry allows', async () => {
    const id = await live(manual);
    const person = { profile_id: 'external_id:ann' };
    const run = await post(`/${id}/runs`, person);
    expect(run).toMatchObject({ status: 'active', trigger_event_id: null, step_id: 'mail' });
    await pass('0');
    expect(await runsOf(id)).toMatchObject([{ id: run.id, outcome: 'completed' }]);
    const { items } = (await ask('GET', `/v1/sends?automation_id=${id}`)).body;
    expect(items).toMatchObject([{ to: 'ann@example.com', run_id: run.id }]);
    expectRefusal(await ask('POST', `/v1/automations/${id}/runs`, person), 'automation_state');
    const nobody = { profile_id: 'external_id:nobody' };
    expectRefusal(await ask('POST', `/v1/automations/${id}/runs`, nobody), 'not_found');
  });

  test('only what is active and manual is started by hand', async () => {
    const person = { profile_id: 'external_id:ann' };
    for (const id of [await make(manual), await live(delayed())])
      expectRefusal(await ask('POST', `/v1/automations/${id}/runs`, person), 'automation_state');
  });
});

describe('a test run', () => {
  test('of a draft waits for seconds, mails a chosen address, and tells the profile nothing', async () => {
    const step = { kind: 'update_profile' as const, traits: { stage: 'tested' }, next: 'wait' };
    const id = await make({ ...delayed({ told: step }), entry: 'told' });
    const to = 'me@example.com';
    const run = await post(`/${id}/test`, { profile_id: 'external_id:ann', to });
    await pass('0');
    const [waiting] = await runsOf(id);
    expect(waiting).toMatchObject({ id: run.id, is_test: true, step_id: 'wait' });
    expect(Date.parse(waiting.wake_at) - Date.now()).toBeLessThanOrEqual(5_000);
    await pass('5 seconds');
    const { items } = (await ask('GET', `/v1/sends?automation_id=${id}`)).body;
    expect(items.map((send: { to: string }) => send.to)).toEqual([to]);
    const { body: profile } = await ask('GET', '/v1/profiles/external_id:ann');
    expect(profile.traits).not.toHaveProperty('stage');
    const { rows } = await database.owner.query(
      'select outcome, test_recipient from automations.runs where run_id = $1',
      [run.id],
    );
    expect(rows).toEqual([{ outcome: 'completed', test_recipient: null }]);
  });

  test('counts for no re-entry', async () => {
    const id = await live(delayed({}, { re_entry: 'once' }));
    await post(`/${id}/test`, { profile_id: 'external_id:ann', to: 'me@example.com' });
    await happen('trial_started');
    expect((await runsOf(id)).map((run: { is_test: boolean }) => run.is_test)).toEqual([
      false,
      true,
    ]);
  });
});

test('runs are listed newest first, page by page, of all or of one person', async () => {
  const id = await live(delayed());
  for (const person of ['ann', 'ben', 'ann']) await happen('trial_started', {}, person);
  const first = await get(`/${id}/runs?limit=2`);
  const second = await get(`/${id}/runs?limit=2&cursor=${first.next_cursor}`);
  expect([first.items.length, second.items.length, second.next_cursor]).toEqual([2, 1, null]);
  expect((await get(`/${id}/runs?profile_id=external_id:ann`)).items).toHaveLength(2);
  expect((await get(`/${id}/runs?profile_id=external_id:nobody`)).items).toHaveLength(0);
});
