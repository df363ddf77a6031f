import { describe, expect, test } from 'vitest';
import { CLAIM_RUNS_MAX, findAutomationByName } from '../../src/automations/automations.ts';
import type { EventRow } from '../../src/ingest/events.ts';
import { newId } from '../../src/base/ids.ts';
import { suppress } from '../../src/suppression/suppression.ts';
import { newEvent } from '../ingest/some_events.ts';
import { testDatabase } from '../support/database.ts';
import { copy, journeysOf, PROVIDER } from './journeys.ts';

const database = testDatabase();

const signUp = (properties: object = { email: 'ann@example.com' }, given: Partial<EventRow> = {}) =>
  newEvent({ properties: JSON.stringify(properties), ...given });
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();

describe('what starts a run', () => {
  test('an event with the trigger’s name, for the person it is about', async () => {
    const journeys = journeysOf(database);
    const automationId = await journeys.activate();
    const event = signUp();
    expect(await journeys.start(await journeys.flush(event, newEvent({ name: 'other' })))).toBe(1);
    const [run] = await journeys.select('*', 'automations.runs');
    expect(run).toMatchObject({
      automation_id: automationId,
      version: 1,
      trigger_event_id: event.event_id,
      status: 'active',
      step_id: 'address',
    });
    const [{ identity_id }] = await journeys.select('identity_id', 'identity.identities');
    expect(run.identity_id).toBe(identity_id);
  });

  test('an event with both identifiers is about the external one', async () => {
    const journeys = journeysOf(database);
    await journeys.activate();
    await journeys.start(await journeys.flush(signUp({}, { anonymous_id: 'anon' })));
    const rows = await journeys.select(
      '(select kind from identity.identities as known where known.identity_id = runs.identity_id) as kind',
      'automations.runs as runs',
    );
    expect(rows).toEqual([{ kind: 'external' }]);
  });

  test('an anonymous visitor’s event starts one too', async () => {
    const journeys = journeysOf(database);
    await journeys.activate();
    const event = signUp({}, { external_id: null, anonymous_id: 'anon' });
    expect(await journeys.start(await journeys.flush(event))).toBe(1);
  });

  test('every filter must hold, with the value’s own type', async () => {
    const journeys = journeysOf(database);
    const where = [
      { property: 'plan', test: { is: 'equals' as const, value: 'pro' } },
      { property: 'seats', test: { is: 'equals' as const, value: 3 } },
      { property: 'trial', test: { is: 'equals' as const, value: false } },
    ];
    await journeys.activate({
      trigger: { kind: 'event', event: 'user_signed_up', where },
      settings: { re_entry: 'every_time' },
    });
    const good = { plan: 'pro', seats: 3, trial: false };
    const bad = [
      {},
      { ...good, plan: 'Pro' },
      { ...good, seats: '3' },
      { ...good, trial: 'false' },
      { plan: 'pro' },
    ];
    expect(
      await journeys.start(await journeys.flush(...bad.map((properties) => signUp(properties)))),
    ).toBe(0);
    expect(await journeys.start(await journeys.flush(signUp({ ...good, more: 1 })))).toBe(1);
  });

  test('a filter on a name of the language matches only data', async () => {
    const journeys = journeysOf(database);
    const where = [{ property: 'constructor', test: { is: 'equals' as const, value: 'x' } }];
    await journeys.activate({ trigger: { kind: 'event', event: 'user_signed_up', where } });
    expect(await journeys.start(await journeys.flush(signUp({})))).toBe(0);
    expect(await journeys.start(await journeys.flush(signUp({ constructor: 'x' })))).toBe(1);
  });

  test('every automation that waits for the event starts its own', async () => {
    const journeys = journeysOf(database);
    for (const name of ['one', 'two', 'three']) await journeys.activate({}, name);
    expect(await journeys.start(await journeys.flush(signUp()))).toBe(3);
  });

  test('another project’s automation starts nothing', async () => {
    await journeysOf(database).activate();
    const journeys = journeysOf(database);
    expect(await journeys.start(await journeys.flush(signUp()))).toBe(0);
  });
});

describe('how often', () => {
  test('once: one run for a person, in one flush, in many, and at once', async () => {
    const journeys = journeysOf(database);
    await journeys.activate({ settings: { re_entry: 'once' } });
    const first = await journeys.flush(signUp(), signUp(), signUp({}, { external_id: 'bob' }));
    expect(await journeys.start(first)).toBe(2);
    const flushes = await Promise.all(Array.from({ length: 6 }, () => journeys.flush(signUp())));
    const started = await Promise.all(flushes.map((flush) => journeys.start(flush)));
    expect(started).toEqual(Array(6).fill(0));
  });

  test('every time: one run for each event, and a trigger twice makes one', async () => {
    const journeys = journeysOf(database);
    await journeys.activate({ settings: { re_entry: 'every_time' } });
    const flush = await journeys.flush(signUp(), signUp(), signUp());
    expect(await journeys.start(flush)).toBe(3);
    expect(await journeys.start(flush)).toBe(0);
    const again = await journeys.flush(signUp(), signUp());
    const atOnce = await Promise.all([1, 2, 3, 4].map(() => journeys.start(again)));
    expect(atOnce.reduce((sum, count) => sum + count)).toBe(2);
  });

  test('once: the earliest of a person’s events in a claim is the one that counts', async () => {
    const journeys = journeysOf(database);
    await journeys.activate({ settings: { re_entry: 'once' } });
    const people = Array.from({ length: 30 }, (_, at) => `person-${at}`);
    const events = Array.from({ length: 12 }, (_, at) =>
      people.map((external_id) => signUp({}, { external_id, occurred_at: minutesAgo(at + 1) })),
    ).flat();
    await journeys.start(await journeys.flush(...events));
    const earliest = new Set(events.slice(-people.length).map(({ event_id }) => event_id));
    const runs = await journeys.select('trigger_event_id', 'automations.runs');
    expect(runs.filter(({ trigger_event_id }) => earliest.has(trigger_event_id))).toHaveLength(30);
  });
});

describe('the way of a run', () => {
  const walked = async (
    given: Parameters<ReturnType<typeof journeysOf>['activate']>[0],
    ...events: EventRow[]
  ) => {
    const journeys = journeysOf(database);
    await journeys.activate(given);
    await journeys.start(await journeys.flush(...events));
    return { ...journeys, advanced: await journeys.advance() };
  };

  test('takes its steps in order, ends, and says what it decided and what to wake', async () => {
    const { projectId, advanced, decisions, select } = await walked({}, signUp());
    const [send] = await select('send_id, recipient, status, step_id', 'delivery.sends');
    expect(send).toMatchObject({ recipient: 'ann@example.com', status: 'queued', step_id: 'mail' });
    expect(await decisions()).toEqual([
      { step_id: 'address', decision: 'profile_updated', detail: { traits: 'email' } },
      { step_id: 'mail', decision: 'send_queued', detail: { send_id: send.send_id } },
    ]);
    expect(await select('status, step_id, wake_at', 'automations.runs')).toEqual([
      { status: 'ended', step_id: null, wake_at: null },
    ]);
    expect(advanced).toEqual({
      hints: [
        { task: 'delivery/send_queued', payload: { project_id: projectId, provider_id: PROVIDER } },
      ],
      isMore: false,
    });
  });

  test('is walked once, however often it is asked for', async () => {
    const { advance, decisions } = await walked({}, signUp());
    expect(await advance()).toEqual({ hints: [], isMore: false });
    expect(await decisions()).toHaveLength(2);
  });

  test('is walked by one of many workers at once', async () => {
    const journeys = journeysOf(database);
    await journeys.activate();
    const people = Array.from({ length: 30 }, (_, at) =>
      signUp({ email: `p${at}@example.com` }, { external_id: `p${at}` }),
    );
    await journeys.start(await journeys.flush(...people));
    await Promise.all(Array.from({ length: 5 }, journeys.advance));
    await journeys.advance();
    expect(await journeys.select('send_id', 'delivery.sends')).toHaveLength(30);
    expect(await journeys.decisions()).toHaveLength(60);
  });

  test('without an address ends with that as the reason, and sends nothing', async () => {
    const { advanced, decisions, select } = await walked({}, signUp({}));
    expect((await decisions()).map(({ decision }) => decision)).toEqual([
      'nothing_to_update',
      'no_address',
    ]);
    expect(await select('send_id', 'delivery.sends')).toEqual([]);
    expect(advanced.hints).toEqual([]);
    const told = await select('name, source, properties', 'ingest.events');
    expect(told.filter(({ source }) => source === 'system')).toEqual([
      expect.objectContaining({
        name: 'email_skipped',
        properties: expect.objectContaining({ reason: 'no_address' }),
      }),
    ]);
  });

  test('to a suppressed address says so, and wakes nobody', async () => {
    const journeys = journeysOf(database);
    await journeys.activate();
    await journeys.within((scope) =>
      suppress(scope, { email: 'ANN@example.com', reason: 'manual', source: 'test' }),
    );
    await journeys.start(await journeys.flush(signUp()));
    expect((await journeys.advance()).hints).toEqual([]);
    expect((await journeys.decisions()).at(-1)).toMatchObject({ decision: 'send_suppressed' });
  });

  test('waits for its time', async () => {
    const journeys = journeysOf(database);
    await journeys.activate();
    await journeys.start(await journeys.flush(signUp()));
    await database.owner.query(
      "update automations.runs set wake_at = now() + interval '1 hour' where project_id = $1",
      [journeys.projectId],
    );
    await journeys.advance();
    expect(await journeys.decisions()).toEqual([]);
  });

  test('keeps the version that it began with', async () => {
    const { select } = await walked({}, signUp());
    expect(await select('version', 'automations.runs')).toEqual([{ version: 1 }]);
  });
});

test('more due runs than one claim takes are said to be more', async () => {
  const journeys = journeysOf(database);
  await journeys.activate({
    settings: { re_entry: 'every_time' },
    entry: 'a',
    steps: { a: copy({ x: 'x' }) },
  });
  const events = Array.from({ length: CLAIM_RUNS_MAX + 1 }, () => signUp({}));
  await journeys.start(await journeys.flush(...events));
  expect(await journeys.advance()).toMatchObject({ isMore: true });
  expect(await journeys.advance()).toMatchObject({ isMore: false });
  expect(await journeys.decisions()).toHaveLength(CLAIM_RUNS_MAX + 1);
});

test('an automation is found by its name, in its project', async () => {
  const journeys = journeysOf(database);
  const automationId = await journeys.activate({}, 'welcome');
  expect(await journeys.within((scope) => findAutomationByName(scope, 'welcome'))).toEqual({
    automation_id: automationId,
    name: 'welcome',
    active_version: 1,
  });
  expect(
    await journeysOf(database, newId()).within((scope) => findAutomationByName(scope, 'welcome')),
  ).toBeNull();
});

test('a definition that is wrong is not kept at all', async () => {
  const journeys = journeysOf(database);
  await expect(journeys.activate({ entry: 'nowhere' })).rejects.toThrow();
  expect(await journeys.select('name', 'automations.automations')).toEqual([]);
});

test('an automation that was saved before there was a format goes on as it was meant', async () => {
  const journeys = journeysOf(database);
  await journeys.activate({ settings: { re_entry: 'every_time' } });
  const saved = {
    trigger: {
      kind: 'event',
      event: 'user_signed_up',
      filters: [{ property: 'plan', equals: 'pro' }],
    },
    settings: { re_entry: 'every_time' },
    entry: 'a',
    steps: { a: { kind: 'update_profile', traits_from_event: { plan: 'plan' }, next: null } },
  };
  await database.owner.query(
    'update automations.versions set definition = $2 where project_id = $1',
    [journeys.projectId, JSON.stringify(saved)],
  );
  expect(await journeys.tell(signUp({ plan: 'free' }), signUp({ plan: 'pro' }))).toBe(1);
  expect(await journeys.decisions()).toMatchObject([{ decision: 'profile_updated' }]);
  expect(await journeys.select('status, outcome', 'automations.runs')).toEqual([
    { status: 'ended', outcome: 'completed' },
  ]);
});
