// A simulation asks the past as it was; what is not kept of it, it says.
import { describe, expect, test } from 'vitest';
import type { Condition } from '../../src/segments/schema.ts';
import { testDatabase } from '../support/database.ts';
import { mail } from './journeys.ts';
import { ago, event, pastsIn, trait } from './past_script.ts';

const database = testDatabase();
const begin = pastsIn(database);
const PRO: Condition = { kind: 'trait', trait: 'plan', test: { is: 'equals', value: 'pro' } };
const paidTwice: Condition = {
  kind: 'event',
  event: 'paid',
  where: [],
  count: { is: 'at_least', value: 2 },
};

const told = ({
  assumed,
}: {
  assumed: { what: string; name: string | null; runs: number | null }[];
}) => assumed.map(({ what, name, runs }) => [what, name, runs]);

describe('a branch on the person', () => {
  test('goes by the segments that they were in then', async () => {
    const world = await begin();
    const segment_id = await world.segment('pro', PRO);
    await world.live(
      event('go', 'ann', 20),
      trait('ann', 19, { plan: 'pro' }),
      event('go', 'ann', 18),
      trait('ann', 17, { plan: 'free' }),
      event('go', 'ann', 16),
    );
    const simulation = await world.simulated(world.asking({ kind: 'segment', segment_id }));
    expect(simulation).toMatchObject({ entered: 3, sent: { m: 1 } });
    expect(told(simulation)).toEqual([]);
  });

  test('counts the events that had come by then', async () => {
    const world = await begin();
    await world.live(
      event('paid', 'ann', 21),
      event('go', 'ann', 20),
      event('paid', 'ann', 19),
      event('go', 'ann', 18),
    );
    expect(await world.simulated(world.asking(paidTwice))).toMatchObject({
      entered: 2,
      sent: { m: 1 },
    });
  });

  test('asks a segment that was made since what it asks today, of that moment, and says so', async () => {
    const world = await begin();
    await world.live(
      event('paid', 'ann', 21),
      event('go', 'ann', 20),
      event('paid', 'ann', 19),
      event('go', 'ann', 18),
    );
    const segment_id = await world.segment('paid twice', paidTwice);
    const simulation = await world.simulated(world.asking({ kind: 'segment', segment_id }));
    expect(simulation).toMatchObject({ entered: 2, sent: { m: 1 } });
    expect(told(simulation)).toEqual([['segment_asked_then', segment_id, 2]]);
  });

  test('takes a trait that was told anew since as it is today, and says which and how often', async () => {
    const world = await begin();
    await world.live(
      trait('ann', 30, { plan: 'free' }),
      event('go', 'ann', 20),
      trait('ann', 19, { plan: 'pro' }),
      event('go', 'ann', 18),
    );
    const simulation = await world.simulated(world.asking(PRO));
    expect(simulation).toMatchObject({ entered: 2, sent: { m: 2 } });
    expect(told(simulation)).toEqual([['trait_of_today', 'plan', 1]]);
    expect(simulation.sample.map(({ traits_of_today }) => traits_of_today)).toEqual([['plan'], []]);
  });
});

test('a device’s past is somebody’s while it is linked to them', async () => {
  const world = await begin();
  const wait = {
    kind: 'wait_for_event' as const,
    event: 'paid',
    timeout: 'P1D',
    next: 'm',
    on_timeout: null,
  };
  await world.live(
    event('seen', 'd0', 30),
    event('go', 'ann', 20),
    event('paid', 'd0', 19.5),
    { kind: 'link', at: ago(10), who: 'ann', device: 'd0' },
    event('go', 'ann', 8),
    event('paid', 'd0', 7.5),
    { kind: 'unlink', at: ago(6), who: 'ann', device: 'd0' },
    event('go', 'ann', 4),
    event('paid', 'd0', 3.5),
  );
  expect(await world.simulated({ entry: 'w', steps: { w: wait, m: mail() } })).toMatchObject({
    entered: 3,
    sent: { m: 1 },
  });
});

test('a device is another person’s while a server’s link replaces that of a browser, and comes back', async () => {
  const world = await begin();
  const wait = {
    kind: 'wait_for_event' as const,
    event: 'paid',
    timeout: 'P1D',
    next: 'm',
    on_timeout: null,
  };
  const link = (days: number, who: string, by: 'publishable' | 'server') => ({
    kind: 'link' as const,
    at: ago(days),
    who,
    device: 'd0',
    by,
  });
  await world.live(
    event('seen', 'd0', 30),
    link(25, 'ann', 'publishable'),
    event('go', 'ann', 20),
    event('paid', 'd0', 19.5),
    link(15, 'bob', 'server'),
    // The device is Bob's: Ann waits in vain, and Bob does not.
    event('go', 'ann', 12),
    event('go', 'bob', 12),
    event('paid', 'd0', 11.5),
    { kind: 'unlink', at: ago(10), who: 'bob', device: 'd0' },
    event('go', 'ann', 8),
    event('paid', 'd0', 7.5),
  );
  expect(await world.simulated({ entry: 'w', steps: { w: wait, m: mail() } })).toMatchObject({
    entered: 4,
    sent: { m: 3 },
  });
});

test('a run that waits is woken by the link that an undo restores', async () => {
  const world = await begin();
  const wait = {
    kind: 'wait_for_event' as const,
    event: 'paid',
    timeout: 'P20D',
    next: 'm',
    on_timeout: null,
  };
  await world.live(
    event('seen', 'd0', 30),
    { kind: 'link', at: ago(25), who: 'ann', device: 'd0', by: 'publishable' },
    { kind: 'link', at: ago(15), who: 'bob', device: 'd0', by: 'server' },
    event('go', 'ann', 12),
    event('paid', 'd0', 11),
    { kind: 'unlink', at: ago(10), who: 'bob', device: 'd0' },
  );
  const definition = { entry: 'w', steps: { w: wait, m: mail() } };
  const simulation = await world.simulated(definition);
  expect(simulation).toMatchObject({ entered: 1, sent: { m: 1 } });
});

test('a device that is linked leaves its segments with nobody leaving', async () => {
  const world = await begin();
  const segment_id = await world.segment('paid', {
    ...paidTwice,
    count: { is: 'at_least', value: 1 },
  });
  await world.live(event('paid', 'd0', 20), {
    kind: 'link',
    at: ago(10),
    who: 'ann',
    device: 'd0',
  });
  const trigger = { kind: 'segment_left' as const, segment_id };
  expect(await world.simulated({ trigger })).toMatchObject({ triggered: 0 });
});

test('who is suppressed, or has unsubscribed, is so from then on and until it is lifted', async () => {
  const world = await begin();
  const change = (kind: 'suppress' | 'lift' | 'unsubscribe' | 'resubscribe', days: number) => ({
    kind,
    at: ago(days),
    who: 'ann',
  });
  await world.live(
    event('go', 'ann', 20),
    change('suppress', 19),
    event('go', 'ann', 18),
    change('lift', 17),
    event('go', 'ann', 16),
    change('unsubscribe', 15),
    event('go', 'ann', 14),
    change('resubscribe', 13),
    event('go', 'ann', 12),
  );
  expect(await world.simulated({})).toMatchObject({
    sent: { m: 3 },
    skipped: { send_suppressed: 1, send_unsubscribed: 1 },
  });
});

test('a cap of the project counts what other automations sent before, and nothing that came after', async () => {
  const world = await begin();
  await world.activate('Beside', {
    trigger: { kind: 'event', event: 'before' },
    settings: { re_entry: 'every_time' },
    entry: 'm',
    steps: { m: mail() },
  });
  await world.live(
    event('before', 'ann', 21),
    event('go', 'ann', 20),
    event('go', 'ann', 10),
    event('before', 'ann', 9),
  );
  const frequency_cap = { sends: 1, per: 'P3D', over: 'skip' as const };
  const settings = { re_entry: 'every_time' as const, frequency_cap };
  expect(await world.simulated({ settings })).toMatchObject({
    sent: { m: 1 },
    skipped: { frequency_cap_skipped: 1 },
  });
});

describe('an event', () => {
  const accept = { re_entry: 'every_time' as const, late_events: 'accept' as const };

  test('begins nothing before it is received', async () => {
    const world = await begin();
    await world.live(event('go', 'ann', 10, 10.5));
    const { sample } = await world.simulated({ settings: accept });
    expect(sample[0]?.entered_at).toBe(ago(10).toISOString());
  });

  test('of an import counts as received in its time, which is said', async () => {
    const world = await begin();
    await world.live(event('go', 'ann', 0.5, 20));
    const simulation = await world.simulated({ settings: accept });
    expect(simulation.sample[0]?.entered_at).toBe(ago(20).toISOString());
    expect(told(simulation)).toEqual([['import_in_time', null, 1]]);
  });
});

test('who came into a segment before it was made is not known, which is said', async () => {
  const world = await begin();
  await world.live(trait('ann', 20, { plan: 'pro' }));
  const segment_id = await world.segment('pro', PRO);
  const simulation = await world.simulated({ trigger: { kind: 'segment_entered', segment_id } });
  expect(simulation).toMatchObject({ triggered: 0 });
  expect(told(simulation)).toEqual([['segment_not_known', segment_id, null]]);
});

test('that no email is opened or clicked is said where it matters', async () => {
  const world = await begin();
  await world.live(event('go', 'ann', 10));
  const simulation = await world.simulated({
    entry: 'm',
    steps: {
      m: mail('d'),
      d: { kind: 'delay', duration: 'PT1H', next: 'b' },
      b: {
        kind: 'branch',
        branches: [{ when: { kind: 'email', step: 'm', became: 'clicked' }, next: 'w' }],
        otherwise: null,
      },
      w: mail(),
    },
  });
  expect(simulation).toMatchObject({ sent: { m: 1 }, outcomes: { completed: 1 } });
  expect(told(simulation)).toEqual([['mail_not_opened', null, null]]);
});

test('that mails are delivered and calls are taken is said where it matters', async () => {
  const world = await begin();
  await world.live(event('go', 'ann', 10));
  const endpoint_id = await world.endpoint();
  const simulation = await world.simulated({
    entry: 'm',
    steps: {
      m: mail('d'),
      d: { kind: 'delay', duration: 'PT1H', next: 'b' },
      b: {
        kind: 'branch',
        branches: [{ when: { kind: 'email', step: 'm', became: 'delivered' }, next: 'w' }],
        otherwise: null,
      },
      w: { kind: 'webhook', endpoint_id, next: null },
    },
  });
  expect(simulation).toMatchObject({ called: { w: 1 }, outcomes: { completed: 1 } });
  expect(told(simulation)).toEqual([
    ['mail_delivered', null, null],
    ['webhook_taken', null, null],
  ]);
});
