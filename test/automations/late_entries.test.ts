// Entries of segments that late events or undone links caused: they start no run and reach no goal.
import { beforeEach, describe, expect, test } from 'vitest';
import { explain } from '../../src/automations/explain.ts';
import { getAutomation } from '../../src/automations/queries.ts';
import type { NewDefinition } from '../../src/automations/schema.ts';
import { simulate } from '../../src/automations/simulate.ts';
import { counted, DAY_MS, HOUR_MS, lateWorld, never, phone } from '../segments/late_world.ts';
import { testDatabase } from '../support/database.ts';
import { note, onPlan, withSegments } from './with_segments.ts';

const database = testDatabase();
let world: ReturnType<typeof withSegments>;
let late: ReturnType<typeof lateWorld>;
beforeEach(() => {
  world = withSegments(database);
  late = lateWorld(database, world.projectId);
});

const LATE = 24 * HOUR_MS + 1;
const on = (kind: 'segment_entered' | 'segment_left', segment_id: string) => ({
  trigger: { kind, segment_id },
});
const happen = async (...event: Parameters<typeof late.track>) => {
  await late.track(...event);
  await late.process();
  await world.work();
};
const profileOf = async (who: string): Promise<string> => {
  const { rows } = await database.owner.query<{ profile_id: string }>(
    'select profile_id from identity.identities where project_id = $1 and value = $2',
    [world.projectId, who],
  );
  return rows[0]?.profile_id ?? '';
};
const stoppedBy = async (automationId: string, who = 'ann') => {
  const profileId = await profileOf(who);
  const { stopped_by } = await world.within(async (scope) =>
    explain(scope, await getAutomation(scope, automationId), { profileId }),
  );
  return stopped_by?.decision;
};
const simulated = async (automationId: string) => {
  const kept = await world.within((scope) => getAutomation(scope, automationId));
  return simulate(database.deps, world.projectId, kept, { days: 1, version: 1 });
};

describe('a late event', () => {
  test.each([
    [24 * HOUR_MS, 'PT24H', ['ann']],
    [LATE, 'PT24H', []],
    [LATE, 'accept', ['ann']],
    [7 * DAY_MS, 'P1W', ['ann']],
    [7 * DAY_MS + 1, 'P1W', []],
  ])('%s ms late, with late_events %s, starts runs of %j', async (lagMs, late_events, who) => {
    await world.tell('ann', {});
    const buyers = await world.segment(counted('bought'));
    const newcomers = await world.segment(never('bought'));
    const settings = { re_entry: 'every_time' as const, late_events };
    const byEntering = await world.live({ ...on('segment_entered', buyers), settings }, 'In');
    const byLeaving = await world.live({ ...on('segment_left', newcomers), settings }, 'Out');
    await happen('bought', lagMs);
    expect(await world.whoRan()).toEqual([...who, ...who]);
    for (const id of [byEntering, byLeaving]) {
      expect(await stoppedBy(id)).toBe(who.length === 0 ? 'late' : undefined);
      const { entered, kept_out } = await simulated(id);
      expect([entered, kept_out.late]).toEqual(who.length === 0 ? [0, 1] : [1, 0]);
    }
  });

  test('starts a run later, when a fresh one brings the person back', async () => {
    await world.tell('ann', {});
    const recent = await world.segment(counted('bought', 1, 30));
    const id = await world.live(on('segment_entered', recent));
    await happen('bought', 10 * DAY_MS);
    expect(await stoppedBy(id)).toBe('late');
    await late.refresh(Math.floor(Date.now() / DAY_MS) + 30);
    await happen('bought');
    expect(await world.whoRan()).toEqual(['ann']);
    expect(await stoppedBy(id)).toBeUndefined();
  });
});

describe('a goal that is a segment', () => {
  const until = (segment_id: string): Partial<NewDefinition> => ({
    trigger: { kind: 'event', event: 'trial_started', where: [] },
    settings: { goal: { segment_id }, re_entry: 'every_time' },
    entry: 'delay',
    steps: { delay: { kind: 'delay', duration: 'P3D', next: 'note' }, note: note() },
  });
  const outcomes = async () =>
    (await world.select('outcome', 'automations.runs')).map(({ outcome }) => outcome);

  test('is not reached by events from before the run, and is by those since, however late', async () => {
    const buyers = await world.segment(counted('bought', 2));
    const id = await world.live(until(buyers));
    await happen('trial_started');
    await happen('bought', 3 * HOUR_MS);
    await happen('bought', 2 * HOUR_MS);
    expect(await world.names()).toEqual(['delayed']);
    expect((await simulated(id)).outcomes).toMatchObject({ inside: 1 });

    await world.pass('1 day');
    const again = await world.segment(counted('bought', 3));
    await world.live(until(again), 'Again');
    await happen('trial_started', 0, { who: { external_id: 'ben' } });
    await world.pass('1 day');
    const who = { who: { external_id: 'ben' } };
    for (const _ of [1, 2, 3]) await happen('bought', 3 * HOUR_MS, who);
    expect(await outcomes()).toContain('converted');
  });

  test('is not reached by what the undo of a link changes', async () => {
    const newcomers = await world.segment(never('bought'));
    const id = await world.live(until(newcomers));
    await world.tell('ann', {});
    await happen('bought', 0, { who: phone });
    await late.link();
    await world.work();
    await happen('trial_started');
    await late.unlink();
    await world.work();
    expect(await late.entries(newcomers, 'ann')).toEqual([
      'entered change',
      'left change',
      'entered undo',
    ]);
    expect(await outcomes()).toEqual([null]);
    expect((await simulated(id)).outcomes).toMatchObject({ inside: 1 });
  });
});

describe('the undo of a link', () => {
  const plan = async () => {
    const buyers = await world.segment(counted('bought'));
    const newcomers = await world.segment(never('bought'));
    return {
      buyers,
      newcomers,
      entering: await world.live(on('segment_entered', newcomers), 'New'),
      leaving: await world.live(on('segment_left', buyers), 'Gone'),
    };
  };

  test('starts no run, and the explanation and the simulation say so', async () => {
    const { entering, leaving } = await plan();
    await happen('bought', 0, { who: phone });
    await world.tell('ben', {});
    await late.link('ben');
    await world.work();
    const before = await world.runs();
    await late.unlink();
    await world.work();
    expect(await world.runs()).toEqual(before);
    expect(await stoppedBy(leaving, 'ben')).toBe('link_undone');
    expect((await simulated(leaving)).entered).toBe(0);
    expect((await simulated(entering)).entered).toBe(before.length);
  });

  test('by a server that takes a device from another person starts no run of theirs', async () => {
    const { buyers } = await plan();
    await world.tell('ann', {});
    await world.tell('mallory', {});
    await happen('bought', 0, { who: phone });
    await late.linkByPage('mallory');
    await world.work();
    const before = (await world.whoRan()).filter((who) => who === 'mallory');
    await late.link('ann');
    await world.work();
    expect((await late.entries(buyers, 'mallory')).at(-1)).toBe('left undo');
    expect((await world.whoRan()).filter((who) => who === 'mallory')).toEqual(before);
  });

  test('leaves a run that waits where it is, and its next branch asks what is true then', async () => {
    const buyers = await world.segment(counted('bought'));
    await world.live({
      trigger: { kind: 'event', event: 'trial_started', where: [] },
      settings: { re_entry: 'every_time' },
      entry: 'delay',
      steps: {
        delay: { kind: 'delay', duration: 'P3D', next: 'ask' },
        ask: {
          kind: 'branch',
          branches: [
            {
              when: { kind: 'segment', segment_id: buyers },
              next: 'note',
            },
          ],
          otherwise: null,
        },
        note: note(),
      },
    });
    await world.tell('ann', { plan: 'pro' });
    await happen('bought', 0, { who: phone });
    await late.link();
    await world.work();
    await happen('trial_started');
    await late.unlink();
    await world.work();
    expect(await world.names()).toEqual(['delayed']);
    await world.pass('3 days');
    await world.settle();
    expect((await world.decisions()).at(-1)).toMatchObject({
      decision: 'branched',
      detail: { branch: 'otherwise' },
    });
  });
});

test('a person who matches a new definition enters by a fill, also with late events', async () => {
  await world.tell('ann', { plan: 'pro' });
  await happen('bought', LATE);
  const pro = await world.segment({ kind: 'all', of: [onPlan('pro'), counted('bought')] });
  await world.live(on('segment_entered', pro));
  await world.work();
  expect(await late.entries(pro)).toEqual(['entered fill']);
  expect(await world.whoRan()).toEqual([]);
});
