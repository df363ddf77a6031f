// Whether anyone with a publishable key may have started a run, and what follows for its emails.
import { beforeEach, describe, expect, test } from 'vitest';
import type { NewDefinition } from '../../src/automations/schema.ts';
import { identify } from '../../src/profiles/identify.ts';
import { newEvent } from '../ingest/some_events.ts';
import { ordered } from '../segments/recount.ts';
import { testDatabase } from '../support/database.ts';
import { workOn } from '../support/work_on.ts';
import { happened, runOf } from './past_of.ts';
import { automationsThroughApi, mailShown } from './through_api.ts';
import { onPlan, withSegments } from './with_segments.ts';

const database = testDatabase();

describe('who caused an entry', () => {
  let world: ReturnType<typeof withSegments>;
  beforeEach(() => {
    world = withSegments(database);
  });
  const sources = async (): Promise<(string | null)[]> =>
    (await world.select('source', 'automations.runs')).map(({ source }) => source);
  const say = async (kind: 'server' | 'publishable', external_id: string): Promise<void> => {
    const caller = { projectId: world.projectId, kind };
    await identify(database.deps, caller, { external_id, traits: { plan: 'pro' } });
    await world.work();
  };

  test('a run of a segment entry knows whether a browser caused it', async () => {
    const pro = await world.segment(onPlan('pro'));
    await world.live({ trigger: { kind: 'segment_entered', segment_id: pro } });
    // Who is seen for the first time changed by that, too, which nobody is known to have caused.
    for (const person of ['ann', 'ben', 'cid']) await world.tell(person, { known: 'yes' });
    await say('server', 'ann');
    expect(await sources()).toEqual(['server']);
    await say('publishable', 'ben');
    expect((await sources()).toSorted((a, b) => String(a).localeCompare(String(b)))).toEqual([
      'browser',
      'server',
    ]);
  });

  test('the same of an entry that events caused', async () => {
    const buyers = await world.segment(ordered());
    await world.live({ trigger: { kind: 'segment_entered', segment_id: buyers } });
    for (const person of ['ann', 'ben']) await world.tell(person, { known: 'yes' });
    const name = 'order_completed';
    await world.flush(
      newEvent({ name, external_id: 'ann' }),
      newEvent({ name, external_id: 'ben', source: 'browser', key_kind: 'publishable' }),
    );
    await workOn(database, world.projectId);
    await world.work();
    const { rows } = await database.owner.query(
      `select known.value as who, run.source from automations.runs as run
       join identity.identities as known using (project_id, identity_id)
       where project_id = $1 order by who`,
      [world.projectId],
    );
    expect(rows).toEqual([
      { who: 'ann', source: 'server' },
      { who: 'ben', source: 'browser' },
    ]);
  });

  test('attack: an entry that a browser’s event causes through update_profile is the browser’s', async () => {
    const pro = await world.segment(onPlan('pro'));
    const set = { kind: 'update_profile' as const, traits: { plan: 'pro' }, next: null };
    const event = { kind: 'event' as const, event: 'plan_chosen' };
    await world.live({ trigger: event, entry: 'set', steps: { set } }, 'Setter');
    await world.live({ trigger: { kind: 'segment_entered', segment_id: pro } }, 'Emails');
    const chosen = { name: event.event, properties: '{}' };
    for (const person of ['ann', 'ben']) await world.tell(person, { known: 'yes' });
    await world.flush(
      newEvent({ ...chosen, external_id: 'ann' }),
      newEvent({ ...chosen, external_id: 'ben', source: 'browser', key_kind: 'publishable' }),
    );
    await workOn(database, world.projectId);
    // The flush left the run of the page to the job of the runs.
    await world.settle();
    await world.work();
    const { rows } = await database.owner.query(
      `select known.value as who, run.source from automations.runs as run
       join automations.automations as automation using (project_id, automation_id)
       join identity.identities as known using (project_id, identity_id)
       where project_id = $1 and automation.name = 'Emails' order by who`,
      [world.projectId],
    );
    expect(rows).toEqual([
      { who: 'ann', source: 'server' },
      { who: 'ben', source: 'browser' },
    ]);
  });
});

const sending: NewDefinition = {
  trigger: { kind: 'event', event: 'user_signed_up' },
  entry: 'mail',
  steps: { mail: mailShown() },
};
const BEGAN = '2026-06-01T12:00:00Z';

describe('a send_email step of a browser-triggered run', () => {
  test.each(['browser', 'system', null] as const)(
    'is limited per recipient where the source is %s',
    async (source) => {
      const room = runOf(sending, { source, ofRecipient: { sent: 2, max: 3 } });
      await room.walkAt(BEGAN);
      expect(room.decisions).toEqual(['send_queued']);
      expect(room.done.limits).toEqual([{ browser_triggered: true, zone: 'UTC' }]);
      const full = runOf(sending, { source, ofRecipient: { sent: 3, max: 3 } });
      await full.walkAt(BEGAN);
      expect([full.decisions, full.done.skipped]).toEqual([
        ['recipient_cap'],
        [{ stepId: 'mail', reason: 'recipient_cap' }],
      ]);
    },
  );

  test('is not limited where a server started the run', async () => {
    const run = runOf(sending, { source: 'server', ofRecipient: { sent: 99, max: 3 } });
    await run.walkAt(BEGAN);
    expect([run.decisions, run.done.limits]).toEqual([['send_queued'], [null]]);
  });
});

test('a wait, a goal and a trigger that require a server ignore what a browser sent', async () => {
  const paid = happened('paid', '2026-06-01T12:30:00Z');
  const waiting: NewDefinition = {
    ...sending,
    entry: 'wait',
    steps: {
      wait: {
        kind: 'wait_for_event',
        event: 'paid',
        source: 'server',
        timeout: 'PT1H',
        next: null,
        on_timeout: null,
      },
    },
  };
  for (const [source, decision] of [
    ['browser', 'wait_timed_out'],
    ['server', 'event_came'],
  ] as const) {
    const run = runOf(waiting, { events: [{ ...paid, source }] });
    await run.walkAt(BEGAN);
    await run.walkAt('2026-06-01T13:00:00Z');
    expect(run.decisions.at(-1)).toBe(decision);
    const goal = { event: 'paid', source: 'server' as const };
    const aiming = runOf({ ...waiting, settings: { goal } }, { events: [{ ...paid, source }] });
    await aiming.walkAt(BEGAN);
    await aiming.walkAt('2026-06-01T13:00:00Z');
    expect(aiming.decisions.includes('goal_reached')).toBe(source === 'server');
  }
});

describe('a simulation', () => {
  const { api, ask, get, make } = automationsThroughApi(database);
  const event = 'trial_began';
  const every: NewDefinition = {
    ...sending,
    trigger: { kind: 'event', event },
    settings: { re_entry: 'every_time' },
  };
  const strict: NewDefinition = { ...every, trigger: { kind: 'event', event, source: 'server' } };

  test('skips what the cap would skip, and counts no event of a browser where a server is required', async () => {
    await ask('POST', '/v1/identify', { external_id: 'zoe', traits: { email: 'zoe@x.test' } });
    const { publishable_key: key } = api.project;
    for (let at = 0; at < 5; at += 1)
      await ask('POST', '/v1/events', { event, external_id: 'zoe', properties: { at } }, key);
    await api.processEvents();
    expect(await get(`/${await make(every)}/simulation?days=1`)).toMatchObject({
      sent: { mail: 3 },
      skipped: { recipient_cap: 2 },
    });
    const none = await get(`/${await make(strict, 'Strict')}/simulation?days=1`);
    expect(none).toMatchObject({ triggered: 0 });
  });
});
