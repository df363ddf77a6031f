// Rows with reserved names that clients once sent: no trigger, wait, goal, branch or simulation takes them for what the
// service saw.
import { describe, expect, test } from 'vitest';
import type { NewDefinition } from '../../src/automations/schema.ts';
import { newId } from '../../src/base/ids.ts';
import type { EventRow } from '../../src/ingest/events.ts';
import { acceptEvents } from '../../src/ingest/queries.ts';
import { newEvent } from '../ingest/some_events.ts';
import { testDatabase } from '../support/database.ts';
import { copy, journeysOf, mail } from './journeys.ts';
import { automationsThroughApi, mailShown } from './through_api.ts';

const database = testDatabase();
const NAME = 'email_clicked';
type Source = EventRow['source'];

const secondsAgo = (seconds: number) => new Date(Date.now() - seconds * 1_000).toISOString();
const signUp = () =>
  newEvent({
    properties: JSON.stringify({ email: 'ann@example.com' }),
    occurred_at: secondsAgo(60),
  });
const clicked = (source: Source, given: Partial<EventRow> = {}) =>
  newEvent({ name: NAME, source, ...given });
const FORGED: readonly Source[] = ['server', 'browser'];

const WAITS: Partial<NewDefinition> = {
  settings: { re_entry: 'every_time' },
  entry: 'address',
  steps: {
    address: copy({ email: 'email' }, 'wait'),
    wait: {
      kind: 'wait_for_event',
      event: NAME,
      timeout: 'P3D',
      next: 'thanks',
      on_timeout: 'nudge',
    },
    thanks: mail(),
    nudge: mail(),
  },
};
const begun = async (given: Partial<NewDefinition>) => {
  const journeys = journeysOf(database);
  await journeys.activate(given);
  const stepsSent = async () =>
    (await journeys.select('step_id', 'delivery.sends')).map(({ step_id }) => step_id);
  return { ...journeys, stepsSent };
};

describe.each(FORGED)('a row that a client sent (%s)', (source) => {
  test('starts no run of an automation whose trigger has its name; one of the service does', async () => {
    const { tell } = await begun({ trigger: { kind: 'event', event: NAME } });
    expect(await tell(clicked(source))).toBe(0);
    expect(await tell(clicked('system'))).toBe(1);
  });

  test('does not move a run that waits for its name; one of the service does', async () => {
    const { tell, stepsSent } = await begun(WAITS);
    // Between the trigger and the wait, then while the run waits.
    await tell(signUp(), clicked(source, { occurred_at: secondsAgo(30) }));
    await tell(clicked(source));
    expect(await stepsSent()).toEqual([]);
    await tell(clicked('system'));
    expect(await stepsSent()).toEqual(['thanks']);
  });

  test('is no goal; one of the service is', async () => {
    const { tell, select } = await begun({
      ...WAITS,
      settings: { re_entry: 'every_time', goal: { event: NAME } },
      steps: {
        address: copy({ email: 'email' }, 'wait'),
        wait: { kind: 'delay', duration: 'P3D', next: null },
      },
    });
    await tell(signUp());
    await tell(clicked(source));
    expect(await select('outcome', 'automations.runs')).toEqual([{ outcome: null }]);
    await tell(clicked('system'));
    expect(await select('outcome', 'automations.runs')).toEqual([{ outcome: 'converted' }]);
  });

  test.each([
    ['the run', { kind: 'event_since', event: NAME, where: [] }],
    ['the person', { kind: 'event', event: NAME, where: [], count: { is: 'at_least', value: 1 } }],
  ] as const)(
    'passes no branch that asks for the events of %s; one of the service does',
    async (_whose, when) => {
      const branching = {
        settings: { re_entry: 'every_time' },
        entry: 'address',
        steps: {
          address: copy({ email: 'email' }, 'branch'),
          branch: {
            kind: 'branch',
            branches: [{ when, next: 'thanks' }],
            otherwise: 'nudge',
          },
          thanks: mail(),
          nudge: mail(),
        },
      } as unknown as Partial<NewDefinition>;
      const forged = await begun(branching);
      await forged.tell(signUp(), clicked(source, { occurred_at: secondsAgo(30) }));
      expect(await forged.stepsSent()).toEqual(['nudge']);
      const seen = await begun(branching);
      await seen.tell(signUp(), clicked('system', { occurred_at: secondsAgo(30) }));
      expect(await seen.stepsSent()).toEqual(['thanks']);
    },
  );
});

describe('through the API', () => {
  const { api, get, post, work, make, ask } = automationsThroughApi(database);
  const hoursAgo = (hours: number) => secondsAgo(hours * 3_600);
  const insert = async (source: Source, external_id: string, occurred_at: string) => {
    const event = clicked(source, { external_id, occurred_at });
    await acceptEvents(database.deps.db, api.project.project_id, newId(), [event]);
    await work();
  };
  const definition: NewDefinition = {
    trigger: { kind: 'event', event: NAME },
    settings: { late_events: 'accept', re_entry: 'every_time' },
    entry: 'welcome',
    steps: {
      welcome: mailShown('wait'),
      wait: { kind: 'wait_for_event', event: NAME, timeout: 'P3D', next: 'tips', on_timeout: null },
      tips: mailShown(),
    },
  };

  test('a simulation neither starts nor moves a run by a row that a client sent', async () => {
    const id = await make(definition);
    for (const who of ['cleo', 'dan'])
      await ask('POST', '/v1/identify', {
        external_id: who,
        traits: { email: `${who}@example.com` },
      });
    await insert('server', 'cleo', hoursAgo(20));
    await insert('browser', 'cleo', hoursAgo(19));
    expect(await get(`/${id}/simulation?days=30`)).toMatchObject({ triggered: 0, entered: 0 });
    await insert('system', 'dan', hoursAgo(18));
    await insert('server', 'dan', hoursAgo(17));
    expect(await get(`/${id}/simulation?days=30`)).toMatchObject({
      triggered: 1,
      reached: { welcome: 1, wait: 1 },
      outcomes: { inside: 1 },
    });
    await insert('system', 'dan', hoursAgo(16));
    expect(await get(`/${id}/simulation?days=30`)).toMatchObject({
      triggered: 2,
      reached: { welcome: 2, wait: 2, tips: 1 },
    });
  });

  test('"why not" does not take a row that a client sent for the event that would have started a run', async () => {
    const id = await make(definition);
    await ask('POST', '/v1/identify', { external_id: 'eve', traits: { email: 'eve@example.com' } });
    await insert('server', 'eve', hoursAgo(2));
    await post(`/${id}/activate`, { version: 1 });
    const before = await get(`/${id}/explain?profile_id=external_id:eve`);
    await insert('system', 'eve', hoursAgo(1));
    const after = await get(`/${id}/explain?profile_id=external_id:eve`);
    expect(before.stopped_by.decision).toBe('not_triggered');
    expect(after.stopped_by?.decision).not.toBe('not_triggered');
  });
});
