// Why somebody did not get it: each cause that the product promises to name.
import { describe, expect, test } from 'vitest';
import { DECISIONS } from '../../src/automations/decisions.ts';
import type { NewDefinition } from '../../src/automations/schema.ts';
import { testDatabase } from '../support/database.ts';
import { automationsThroughApi, mailShown } from './through_api.ts';

const database = testDatabase();
const { api, ask, get, post, work, happen, make, live, pass, set } =
  automationsThroughApi(database);

const EVENT = 'trial_started';
const mailing = (given: Partial<NewDefinition> = {}): NewDefinition => ({
  trigger: { kind: 'event', event: EVENT },
  settings: {},
  entry: 'mail',
  steps: { mail: mailShown() },
  ...given,
});
const explain = (id: string, who = 'external_id:ann') => get(`/${id}/explain?profile_id=${who}`);
const stoppedBy = async (id: string, who?: string): Promise<string | null> => {
  const { stopped_by } = await explain(id, who);
  if (stopped_by !== null) expect(stopped_by.says).toMatch(/^[A-Z].*\.$/);
  return stopped_by?.decision ?? null;
};
const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();

test('nothing stopped what was sent: the decisions in order, with the send', async () => {
  const id = await live(mailing());
  await happen(EVENT);
  const { decisions, stopped_by } = await explain(id);
  expect(decisions.map(({ decision }: { decision: string }) => decision)).toEqual([
    'entered',
    'send_queued',
  ]);
  expect(decisions[1]).toMatchObject({ step_id: 'mail', detail: { send_id: expect.any(String) } });
  expect(stopped_by).toBeNull();
});

describe('nobody entered because', () => {
  test('the automation is a draft, paused, or archived', async () => {
    const id = await make(mailing());
    expect(await stoppedBy(id)).toBe('automation_draft');
    await post(`/${id}/activate`);
    await post(`/${id}/pause`);
    expect(await stoppedBy(id)).toBe('automation_paused');
    await post(`/${id}/archive`);
    expect(await stoppedBy(id)).toBe('automation_archived');
  });

  test('not triggered: the event is not on their timeline', async () => {
    const id = await live(mailing());
    expect((await explain(id)).stopped_by).toMatchObject({
      decision: 'not_triggered',
      detail: { event: EVENT },
    });
  });

  test('filter: which property it was', async () => {
    const where = [{ property: 'plan', test: { is: 'equals' as const, value: 'pro' } }];
    const id = await live(mailing({ trigger: { kind: 'event', event: EVENT, where } }));
    await happen(EVENT, { plan: 'free' });
    expect((await explain(id)).stopped_by).toMatchObject({
      decision: 'filter',
      detail: { property: 'plan', is: 'equals' },
    });
  });

  test('filter: a later event of a browser does not hide it where the trigger requires a server', async () => {
    const where = [{ property: 'plan', test: { is: 'equals' as const, value: 'pro' } }];
    const trigger = { kind: 'event' as const, event: EVENT, where, source: 'server' as const };
    const id = await live(mailing({ trigger }));
    const byBrowser = async () => {
      const event = { event: EVENT, external_id: 'ann', properties: { plan: 'pro' } };
      await ask('POST', '/v1/events', event, api.project.publishable_key);
      await work();
    };
    await byBrowser();
    expect(await stoppedBy(id)).toBe('source');
    await happen(EVENT, { plan: 'free' });
    await byBrowser();
    const { decisions, stopped_by } = await explain(id);
    expect(stopped_by.decision).toBe('filter');
    expect(decisions.map(({ decision }: { decision: string }) => decision)).toEqual([
      'filter',
      'source',
    ]);
    await happen(EVENT, { plan: 'pro' });
    expect(await stoppedBy(id)).toBeNull();
    await byBrowser();
    expect(await stoppedBy(id)).toBe('source');
    await post(`/${id}/pause`);
    expect(await stoppedBy(id)).toBe('automation_paused');
  });

  test('late: the event was received too long after it occurred', async () => {
    const id = await live(mailing());
    const event = { event: EVENT, external_id: 'ann', occurred_at: hoursAgo(30) };
    await ask('POST', '/v1/events', event);
    await work();
    expect(await stoppedBy(id)).toBe('late');
  });

  test('the event came before a version was active', async () => {
    await happen(EVENT);
    const id = await live(mailing());
    expect(await stoppedBy(id)).toBe('not_active_then');
  });

  test('nobody started them by hand', async () => {
    const id = await live(mailing({ trigger: { kind: 'manual' } }));
    expect(await stoppedBy(id)).toBe('not_started');
  });

  test('re-entry: they had been in before', async () => {
    const id = await live(mailing({ settings: { re_entry: 'once' } }));
    await happen(EVENT);
    await happen(EVENT);
    expect(await stoppedBy(id)).toBe('re_entry');
  });
});

describe('nothing was sent because', () => {
  const after = async (given: Partial<NewDefinition> = {}, who = 'ann') => {
    const id = await live(mailing(given));
    await happen(EVENT, {}, who);
    return id;
  };

  test('no address', async () => {
    expect(await stoppedBy(await after({}, 'ben'), 'external_id:ben')).toBe('no_address');
  });

  test('suppressed, with the reason', async () => {
    await ask('POST', '/v1/suppressions', { email: 'ann@example.com' });
    expect((await explain(await after())).stopped_by).toMatchObject({
      decision: 'send_suppressed',
      detail: { reason: 'suppressed' },
    });
  });

  test('unsubscribed: before the run, and during it', async () => {
    await ask('POST', '/v1/unsubscribes', { email: 'ann@example.com' });
    expect(await stoppedBy(await after())).toBe('send_unsubscribed');
    const delay = { kind: 'delay' as const, duration: 'P1D', next: 'mail' };
    const id = await after({ entry: 'd', steps: { d: delay, mail: mailShown() } });
    await pass('1 day');
    expect(await stoppedBy(id)).toBe('unsubscribed');
  });

  test('cap', async () => {
    const frequency_cap = { sends: 1, per: 'P7D', over: 'skip' as const };
    const id = await after({ settings: { re_entry: 'every_time', frequency_cap } });
    await happen(EVENT);
    expect(await stoppedBy(id)).toBe('frequency_cap_skipped');
  });

  test('quiet hours: the decision says until when', async () => {
    const hour = (at: number) =>
      `${String((new Date().getUTCHours() + at + 24) % 24).padStart(2, '0')}:00`;
    const quiet_hours = { from: hour(-1), to: hour(3) };
    const { decisions } = await explain(await after({ settings: { quiet_hours } }));
    expect(decisions.at(-1)).toMatchObject({
      decision: 'quiet_hours',
      detail: { until: expect.any(String) },
    });
  });

  test.each([
    ['queued', 'quiet_hours', 'quiet_hours', true],
    ['queued', 'frequency_cap', 'frequency_cap', true],
    ['cancelled', 'frequency_cap', 'frequency_cap_skipped', true],
    ['cancelled', 'unconfirmed_address', 'unconfirmed_address', true],
  ])('%s at the hand-off, for %s: %s', async (status, reason, decision, stops) => {
    const id = await after();
    await set(`update delivery.sends set status = '${status}', status_reason = '${reason}'`);
    const { decisions, stopped_by } = await explain(id);
    expect(decisions.at(-1)).toMatchObject({ decision, detail: { reason } });
    expect(stopped_by !== null).toBe(stops);
  });

  test('unconfirmed address: only a browser has said it, and another said it before', async () => {
    const key = api.project.publishable_key;
    const says = (external_id: string) =>
      ask('POST', '/v1/identify', { external_id, traits: { email: 'victim@example.com' } }, key);
    await says('eve');
    await says('mallory');
    const id = await after({}, 'eve');
    await happen(EVENT, {}, 'mallory');
    expect(await stoppedBy(id, 'external_id:eve')).toBeNull();
    expect(await stoppedBy(id, 'external_id:mallory')).toBe('unconfirmed_address');
    await ask('POST', '/v1/identify', {
      external_id: 'mallory',
      traits: { email: 'victim@example.com' },
    });
    const next = await after({}, 'mallory');
    await happen(EVENT, {}, 'mallory');
    expect(await stoppedBy(next, 'external_id:mallory')).not.toBe('unconfirmed_address');
  });

  test('template failed', async () => {
    const id = await after();
    await set(
      `update delivery.sends set status = 'failed_render', status_reason = 'no such variable'`,
    );
    expect((await explain(id)).stopped_by).toMatchObject({
      decision: 'send_failed_render',
      detail: { reason: 'no such variable' },
    });
  });

  test('provider parked', async () => {
    const id = await after();
    await set(
      `update providers.providers set status = 'parked', parked_reason = 'authentication_failed'`,
    );
    expect(await stoppedBy(id)).toBe('provider_parked');
  });

  test.each([
    ['expired', 'send_expired'],
    ['cancelled', 'send_cancelled'],
    ['rejected', 'send_rejected'],
    ['unknown', 'send_unknown'],
  ])('the send is %s', async (status, decision) => {
    const id = await after();
    await set(`update delivery.sends set status = '${status}'`);
    expect(await stoppedBy(id)).toBe(decision);
  });

  test('held out, an exit, the goal, an overdue step, or a frozen run', async () => {
    const ways = [
      { name: 'a', weight: 1, next: null, is_holdout: true },
      { name: 'b', weight: 1, next: null, is_holdout: true },
    ];
    const split = { entry: 's', steps: { s: { kind: 'split' as const, ways } } };
    expect(await stoppedBy(await after(split))).toBe('held_out');
    const exit = { entry: 's', steps: { s: { kind: 'exit' as const } } };
    expect(await stoppedBy(await after(exit))).toBe('exited');
    const delay = { kind: 'delay' as const, duration: 'P1D', next: 'mail' };
    const delayed = { entry: 'd', steps: { d: delay, mail: mailShown() } };
    const converts = await after({ ...delayed, settings: { goal: { event: 'paid' } } });
    await happen('paid');
    expect(await stoppedBy(converts)).toBe('goal_reached');
    const expires = await after({ ...delayed, settings: { expires_after: 'PT1H' } });
    await pass('26 hours');
    expect(await stoppedBy(expires)).toBe('step_expired');
    const freezes = await after(delayed);
    await post(`/${freezes}/pause`);
    await pass('1 day');
    expect(await stoppedBy(freezes)).toBe('run_frozen');
  });
});

test('every decision that a run logs is one that explain knows', async () => {
  const { rows } = await database.owner.query<{ decision: string }>(
    'select distinct decision from automations.run_log',
  );
  expect(rows.length).toBeGreaterThan(8);
  expect(rows.filter(({ decision }) => !Object.hasOwn(DECISIONS, decision))).toEqual([]);
});
