// A draft over the project's own past: the same steps, another clock, and nobody is mailed.
import { describe, expect, test } from 'vitest';
import { SIMULATION_DAYS_MAX } from '../../src/automations/simulation.ts';
import type { NewDefinition } from '../../src/automations/schema.ts';
import { expectRefusal } from '../support/api.ts';
import { listTables } from '../support/catalogue.ts';
import { testDatabase } from '../support/database.ts';
import { automationsThroughApi, mailShown } from './through_api.ts';

const database = testDatabase();
const { api, ask, get, post, work, make } = automationsThroughApi(database);

const EVENT = 'trial_started';
const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
const told = async (...events: [string, string, number, object?][]) => {
  const list = events.map(([event, external_id, days, properties = {}]) => ({
    event,
    external_id,
    properties,
    occurred_at: daysAgo(days),
  }));
  await ask('POST', '/v1/events/batch', { events: list });
  await work();
};
const identify = (external_id: string, traits: object) =>
  ask('POST', '/v1/identify', { external_id, traits });

const series = (settings: NewDefinition['settings'] = {}): NewDefinition => ({
  trigger: { kind: 'event', event: EVENT },
  settings: { late_events: 'accept', ...settings },
  entry: 'welcome',
  steps: {
    welcome: mailShown('wait'),
    wait: {
      kind: 'wait_for_event',
      event: 'project_created',
      timeout: 'P3D',
      next: 'tips',
      on_timeout: 'nudge',
    },
    tips: mailShown(),
    nudge: mailShown(),
  },
});

test('tells who would have entered, what they would have been sent, and where they would be', async () => {
  for (const person of ['cleo', 'dan']) await identify(person, { email: `${person}@example.com` });
  await told(
    [EVENT, 'cleo', 10],
    ['project_created', 'cleo', 9],
    [EVENT, 'dan', 20],
    [EVENT, 'nobody', 15],
    [EVENT, 'ann', 1],
    [EVENT, 'dan', 40],
  );
  const id = await make(series());
  const simulated = await get(`/${id}/simulation?days=30`);
  expect(simulated).toMatchObject({
    version: 1,
    is_partial: false,
    triggered: 4,
    entered: 4,
    kept_out: { late: 0, re_entry: 0 },
    reached: { welcome: 4, wait: 4, tips: 1, nudge: 2 },
    sent: { welcome: 3, tips: 1, nudge: 1 },
    skipped: { no_address: 2 },
    outcomes: { completed: 3, inside: 1 },
  });
  const cleo = simulated.sample.find(({ decisions }: { decisions: object[] }) =>
    JSON.stringify(decisions).includes('tips'),
  );
  expect(cleo.decisions).toMatchObject([
    { step_id: 'welcome', decision: 'send_queued' },
    { step_id: 'wait', decision: 'waits_for_event' },
    { step_id: 'wait', decision: 'event_came' },
    { step_id: 'tips', decision: 'send_queued' },
  ]);
  // It goes on when the event occurred, not when the wait would have ended.
  expect(Math.abs(Date.parse(cleo.decisions[2].at) - Date.parse(daysAgo(9)))).toBeLessThan(60_000);
});

test('keeps out whoever the settings keep out, by the time of the events', async () => {
  await told([EVENT, 'ann', 20], [EVENT, 'ann', 19], [EVENT, 'ann', 5]);
  const kept = async (settings: NewDefinition['settings']) => {
    const { entered, kept_out } = await get(`/${await make(series(settings))}/simulation`);
    return [entered, kept_out.re_entry, kept_out.late];
  };
  expect(await kept({})).toEqual([1, 2, 0]);
  expect(await kept({ re_entry: { once_per: 'P7D' } })).toEqual([2, 1, 0]);
  expect(await kept({ re_entry: 'every_time' })).toEqual([3, 0, 0]);
  expect(await kept({ late_events: 'PT24H' })).toEqual([0, 0, 3]);
});

test('tells before which mail people would have reached the goal', async () => {
  await told([EVENT, 'ann', 10], ['paid', 'ann', 9]);
  const id = await make(series({ goal: { event: 'paid' } }));
  expect(await get(`/${id}/simulation`)).toMatchObject({
    outcomes: { converted: 1 },
    sent: { welcome: 1 },
    converted_before: { tips: 1, nudge: 1 },
  });
});

test('counts caps over all runs of a person, in the time of the simulation', async () => {
  await told([EVENT, 'ann', 10], [EVENT, 'ann', 9.5]);
  const frequency_cap = { sends: 1, per: 'P2D', over: 'skip' as const };
  const id = await make(series({ re_entry: 'every_time', frequency_cap }));
  expect(await get(`/${id}/simulation`)).toMatchObject({
    sent: { welcome: 1, nudge: 1 },
    skipped: { frequency_cap_skipped: 2 },
  });
});

test('sends one mail to an address that only browsers have said, whoever did; to a confirmed one all', async () => {
  const say = (external_id: string, key?: string) =>
    ask('POST', '/v1/identify', { external_id, traits: { email: 'Victim@example.com' } }, key);
  for (const person of ['eve', 'mallory']) await say(person, api.project.publishable_key);
  await told([EVENT, 'eve', 20], [EVENT, 'mallory', 19]);
  const id = await make(series());
  expect(await get(`/${id}/simulation?days=30`)).toMatchObject({
    entered: 2,
    sent: { welcome: 1 },
    skipped: { unconfirmed_address: 3 },
  });
  for (const person of ['eve', 'mallory']) await say(person);
  expect(await get(`/${id}/simulation?days=30`)).toMatchObject({
    sent: { welcome: 2, nudge: 2 },
    skipped: {},
  });
});

test('changes nothing, in no table', async () => {
  await told([EVENT, 'ann', 10]);
  const id = await make(series());
  const read = async () => {
    const rows: unknown[] = [];
    for (const table of await listTables(database.owner, 'tenant'))
      rows.push(
        (await database.owner.query(`select * from ${table} as one order by one::text`)).rows,
      );
    return rows;
  };
  const before = await read();
  await get(`/${id}/simulation?days=90`);
  expect(await read()).toEqual(before);
});

test('does what the run itself then does: the same decisions, in the same order', async () => {
  await identify('cleo', { email: 'cleo@example.com' });
  const id = await make(series());
  await post(`/${id}/activate`);
  await told([EVENT, 'cleo', 0.9], ['project_created', 'cleo', 0.5]);
  const { sample } = await get(`/${id}/simulation?days=2`);
  const { rows } = await database.owner.query<{ decision: string }>(
    'select decision from automations.run_log where project_id = $1 order by run_id, entry',
    [api.project.project_id],
  );
  const decided = rows.map(({ decision }) => decision);
  const simulated = sample[0].decisions.map(({ decision }: { decision: string }) => decision);
  // The run came to its wait when the event had occurred already.
  expect(simulated.filter((one: string) => one !== 'waits_for_event')).toEqual(decided);
});

describe('its bounds', () => {
  test('400: more days than it may go back, or a version that is not there', async () => {
    const id = await make(series());
    expect(await get(`/${id}/simulation?days=${SIMULATION_DAYS_MAX}`)).toMatchObject({
      entered: 0,
    });
    for (const query of [`days=${SIMULATION_DAYS_MAX + 1}`, 'days=0', 'days=x', 'version=2'])
      expectRefusal(
        await ask('GET', `/v1/automations/${id}/simulation?${query}`),
        'invalid_request',
      );
  });

  test('what is started by hand has no past to run over', async () => {
    const id = await make({ ...series(), trigger: { kind: 'manual' } });
    expect(await get(`/${id}/simulation`)).toMatchObject({ triggered: 0, entered: 0 });
  });
});
