// What a web page causes besides email, by an event or an identify with the publishable key. The guide "Security model"
// names each of these effects.
import { beforeEach, expect, test } from 'vitest';
import * as automations from '../../src/automations/automations.ts';
import { identify } from '../../src/profiles/identify.ts';
import * as profiles from '../../src/profiles/profiles.ts';
import { timeIn } from '../delivery/limited.ts';
import { newEvent } from '../ingest/some_events.ts';
import { ordered } from '../segments/recount.ts';
import { testDatabase } from '../support/database.ts';
import { workOn } from '../support/work_on.ts';
import { mail } from './journeys.ts';
import { onPlan, withSegments } from './with_segments.ts';

const database = testDatabase();
let world: ReturnType<typeof withSegments>;
beforeEach(() => {
  world = withSegments(database);
});

type Source = 'server' | 'browser';
const happen = async (source: Source, name: string, external_id = 'ann'): Promise<void> => {
  const key_kind = source === 'server' ? 'server' : 'publishable';
  await world.flush(newEvent({ name, external_id, source, key_kind, properties: '{}' }));
  await workOn(database, world.projectId);
  await world.work();
};
const say = async (source: Source, traits: object, external_id = 'ann'): Promise<void> => {
  const kind = source === 'server' ? ('server' as const) : ('publishable' as const);
  const given = { external_id, anonymous_id: 'page', traits } as never;
  await identify(database.deps, { projectId: world.projectId, kind }, given);
  await world.work();
};
const historyOf = async (segmentId: string) =>
  (
    await database.owner.query(
      'select change, source from segments.history where segment_id = $1 order by entry',
      [segmentId],
    )
  ).rows;
const traitsOf = async (external_id = 'ann'): Promise<Record<string, unknown>> => {
  const { rows } = await database.owner.query(
    `select profile.traits from identity.identities as known join profiles.profiles as profile
       using (project_id, profile_id) where known.project_id = $1 and known.value = $2`,
    [world.projectId, external_id],
  );
  return rows[0]?.traits ?? {};
};

test('a page moves a person into segments and out of them, and the history says that a browser did', async () => {
  const pro = await world.segment(onPlan('pro'));
  const buyers = await world.segment(ordered());
  await say('server', { known: true });
  await say('browser', { plan: 'pro' });
  await say('browser', { plan: 'free' });
  await happen('browser', 'order_completed');
  expect(await historyOf(pro)).toEqual([
    { change: 'entered', source: 'browser' },
    { change: 'left', source: 'browser' },
  ]);
  expect(await historyOf(buyers)).toEqual([{ change: 'entered', source: 'browser' }]);
});

test('attack: a page does not move a person into a segment of a trait that a server set', async () => {
  const pro = await world.segment(onPlan('pro'));
  await say('server', { plan: 'free' });
  await say('browser', { plan: 'pro' });
  expect(await historyOf(pro)).toEqual([]);
});

test('a page has automations write traits with the authority of a server, and only those of their steps', async () => {
  const set = {
    kind: 'update_profile' as const,
    traits: { stage: 'trial' },
    traits_from_event: { plan: 'plan' },
    next: null,
  };
  const trigger = { kind: 'event' as const, event: 'trial_started' };
  await world.live({ trigger, entry: 'set', steps: { set } });
  await say('server', { plan: 'free' });
  await world.flush(
    newEvent({
      name: 'trial_started',
      source: 'browser',
      key_kind: 'publishable',
      properties: JSON.stringify({ plan: 'pro' }),
    }),
  );
  await workOn(database, world.projectId);
  await world.work();
  // The step's own word is the author's. What the event says is a browser's, and a server said otherwise.
  expect(await traitsOf()).toMatchObject({ stage: 'trial', plan: 'free' });
  await say('browser', { stage: 'none' });
  expect(await traitsOf()).toMatchObject({ stage: 'trial' });
});

test('a page writes email_skipped on the timeline of a person, once a day for each automation', async () => {
  const trigger = { kind: 'event' as const, event: 'trial_started' };
  const settings = { re_entry: 'every_time' as const };
  await world.live({ trigger, settings, entry: 'mail', steps: { mail: mail() } });
  await happen('browser', 'trial_started');
  await happen('browser', 'trial_started');
  const { rows } = await database.owner.query(
    `select source, properties ->> 'reason' as reason from ingest.events
     where project_id = $1 and name = 'email_skipped'`,
    [world.projectId],
  );
  expect(rows).toEqual([{ source: 'system', reason: 'no_address' }]);
});

const runsOf = async (settings: object, source?: 'server'): Promise<(string | null)[]> => {
  const trigger = { kind: 'event' as const, event: 'trial_started', ...(source ? { source } : {}) };
  await world.live({ trigger, settings });
  await happen('browser', 'trial_started');
  await happen('server', 'trial_started');
  return (await world.select('source', 'automations.runs')).map(({ source: by }) => by);
};

test('attack: a page uses up the one entry of a person, and the event of the server starts no run', async () => {
  expect(await runsOf({ re_entry: 'once' })).toEqual(['browser']);
});

test('a trigger that requires a server keeps the one entry of a person for its event', async () => {
  expect(await runsOf({ re_entry: 'once' }, 'server')).toEqual(['server']);
});

test.each([
  [undefined, ['active', 'merged']],
  ['server', ['active']],
] as const)(
  'attack: a page links a device that has an older run, and the run of the person ends: trigger source %s',
  async (source, stands) => {
    await world.live({
      trigger: { kind: 'event', event: 'trial_started', ...(source ? { source } : {}) },
      settings: { re_entry: 'once' },
      entry: 'wait',
      steps: { wait: { kind: 'delay', duration: 'P1D', next: null } },
    });
    const byPage = { external_id: null, anonymous_id: 'page', source: 'browser' as const };
    const started = { name: 'trial_started', properties: '{}' };
    await world.flush(newEvent({ ...started, ...byPage, key_kind: 'publishable' }));
    await workOn(database, world.projectId);
    await happen('server', 'trial_started');
    await identify(
      database.deps,
      { projectId: world.projectId, kind: 'publishable' },
      { external_id: 'ann', anonymous_id: 'page' },
      { onLinked: automations.followLink },
    );
    await world.work();
    const read = async () =>
      (await world.select('run_id, coalesce(outcome, status) as stand', 'automations.runs'))
        .toSorted((a, b) => (a.run_id < b.run_id ? -1 : 1))
        .map(({ stand }) => stand as string);
    expect(await read()).toEqual(stands);
    // A person of the project takes it back.
    const [{ link_id }] = await world.select('link_id', 'identity.links');
    await world.within((scope) =>
      profiles.unlinkPeople(scope, link_id, 'console', async (inner, moved) => {
        await automations.followLink(inner, moved);
      }),
    );
    await world.work();
    expect(await read()).toEqual(stands.map(() => 'active'));
  },
);

const sends = async (): Promise<string[]> => {
  const { rows } = await database.owner.query<{ sent: string }>(
    `select step_id || ' to ' || recipient as sent from delivery.sends
     where project_id = $1 and status = 'queued' order by send_id`,
    [world.projectId],
  );
  return rows.map(({ sent }) => sent);
};

test.each([
  [undefined, ['gold to ann@evil.test', 'other to ben@evil.test']],
  ['server', []],
] as const)(
  'a branch on a trait of a server decides which email an asserted address gets: trigger source %s',
  async (source, sent) => {
    const test = { is: 'equals' as const, value: 'gold' };
    const branches = [{ when: { kind: 'trait' as const, trait: 'plan', test }, next: 'gold' }];
    await world.live({
      trigger: { kind: 'event', event: 'offer_asked', ...(source ? { source } : {}) },
      entry: 'branch',
      steps: {
        branch: { kind: 'branch', branches, otherwise: 'other' },
        gold: mail(),
        other: mail(),
      },
    });
    for (const [external_id, plan] of [
      ['ann', 'gold'],
      ['ben', 'free'],
    ] as const) {
      await say('server', { plan }, external_id);
      await say('browser', { email: `${external_id}@evil.test` }, external_id);
      await happen('browser', 'offer_asked', external_id);
    }
    expect(await sends()).toEqual(sent);
  },
);

test('an email to the address that a page asserts arrives unless a server set an address for the id', async () => {
  const trigger = { kind: 'event' as const, event: 'offer_asked' };
  await world.live({ trigger, entry: 'mail', steps: { mail: mail() } });
  await say('server', { email: 'ann@known.test' }, 'ann');
  for (const external_id of ['ann', 'stranger']) {
    await say('browser', { email: `${external_id}-spy@evil.test` }, external_id);
    await happen('browser', 'offer_asked', external_id);
  }
  expect(await sends()).toEqual(['mail to ann@known.test', 'mail to stranger-spy@evil.test']);
});

/** An automation of a server's event with quiet hours that are three hours away in UTC, and end five hours later. */
const quietLater = async (): Promise<void> => {
  await world.live({
    trigger: { kind: 'event', event: 'order_paid', source: 'server' },
    settings: { quiet_hours: { from: timeIn(3), to: timeIn(8) } },
    entry: 'mail',
    steps: { mail: mail() },
  });
};
const DAY_SECONDS = 86_400;
const secondsToWait = async (): Promise<number> => {
  const [run] = await world.select(
    'extract(epoch from wake_at - now())::float8 as seconds',
    'automations.runs',
  );
  return run.seconds;
};
const goOn = async (): Promise<void> => {
  await world.pass('1 day');
  await world.work();
};

test('a page’s timezone makes email of a server wait for the end of quiet hours, and does not lose it', async () => {
  await quietLater();
  await say('server', { email: 'ann@known.test' });
  await say('browser', { timezone: 'Asia/Karachi' });
  await happen('server', 'order_paid');
  expect([await sends(), await world.names()]).toEqual([[], ['quiet_hours']]);
  expect(await secondsToWait()).toBeGreaterThan(0);
  expect(await secondsToWait()).toBeLessThan(DAY_SECONDS);
  // Each other zone in which it is quiet makes it wait once more.
  await say('browser', { timezone: 'Asia/Dhaka' });
  await goOn();
  expect([await sends(), await world.names()]).toEqual([[], ['quiet_hours', 'quiet_hours']]);
  await say('browser', { timezone: 'UTC' });
  await goOn();
  expect(await sends()).toEqual(['mail to ann@known.test']);
});

test.each(['ACT', 'PST', 'SystemV/PST8', 'Etc/Unknown', '2026-01-01T00:00[Europe/Berlin]'])(
  'attack: a page’s timezone %s ends no run of a server',
  async (timezone) => {
    await quietLater();
    await say('server', { email: 'ann@known.test' });
    await say('browser', { timezone });
    await happen('server', 'order_paid');
    expect(await sends()).toEqual(['mail to ann@known.test']);
  },
);

test('attack: a page does not replace the timezone that a server set', async () => {
  await quietLater();
  await say('server', { email: 'ann@known.test', timezone: 'UTC' });
  await say('browser', { timezone: 'Asia/Karachi' });
  await happen('server', 'order_paid');
  expect(await sends()).toEqual(['mail to ann@known.test']);
});

const renewalMail = () =>
  world.live({
    trigger: { kind: 'event', event: 'order_paid', source: 'server' },
    entry: 'wait',
    steps: {
      wait: { kind: 'delay_until', until: { trait: 'renewal' }, next: 'mail' },
      mail: mail(),
    },
  });

test('a page’s date makes the run of a server wait for it, at the step delay_until', async () => {
  await renewalMail();
  await say('server', { email: 'ann@known.test' });
  await say('browser', { renewal: '9999-12-31' });
  await happen('server', 'order_paid');
  expect(await sends()).toEqual([]);
  expect(await secondsToWait()).toBeGreaterThan(1_000 * 365 * DAY_SECONDS);
});

test('attack: a page does not replace the date that a server set for delay_until', async () => {
  await renewalMail();
  const renewal = new Date(Date.now() + 2 * DAY_SECONDS * 1_000).toISOString();
  await say('server', { email: 'ann@known.test', renewal });
  await say('browser', { renewal: '9999-12-31' });
  await happen('server', 'order_paid');
  expect(await secondsToWait()).toBeLessThan(3 * DAY_SECONDS);
});

test.each([
  [undefined, 'converted'],
  ['server', null],
] as const)(
  'an event of a page reaches a goal with the source %s: the run of a server has the outcome %s',
  async (source, outcome) => {
    await world.live({
      trigger: { kind: 'event', event: 'trial_started', source: 'server' },
      settings: { goal: { event: 'trial_ended', ...(source ? { source } : {}) } },
      entry: 'wait',
      steps: { wait: { kind: 'delay', duration: 'PT1H', next: 'mail' }, mail: mail() },
    });
    await say('server', { email: 'ann@known.test' });
    await happen('server', 'trial_started');
    await happen('browser', 'trial_ended');
    expect(await world.select('outcome', 'automations.runs')).toEqual([{ outcome }]);
  },
);
