// Coming into a segment, and leaving it, start runs: one for each entry of the history, whatever happens twice.
import { beforeEach, describe, expect, test } from 'vitest';
import * as automations from '../../src/automations/automations.ts';
import { archive, pause, resume } from '../../src/automations/life.ts';
import { inProject } from '../../src/base/db.ts';
import { identify } from '../../src/profiles/identify.ts';
import { changeSegment, deleteSegment } from '../../src/segments/segments.ts';
import { Definition } from '../../src/segments/schema.ts';
import { refreshOn } from '../segments/recount.ts';
import { testDatabase } from '../support/database.ts';
import { activation } from './doors.ts';
import { onPlan, note, withSegments } from './with_segments.ts';

const database = testDatabase();
let world: ReturnType<typeof withSegments>;
beforeEach(() => {
  world = withSegments(database);
});

const entered = (segment_id: string) => ({
  trigger: { kind: 'segment_entered' as const, segment_id },
});
const left = (segment_id: string) => ({ trigger: { kind: 'segment_left' as const, segment_id } });
const once = { settings: { re_entry: 'once' as const } };

describe('a trigger of a segment', () => {
  test('starts a run when somebody comes in, and none when they leave', async () => {
    const pro = await world.segment(onPlan('pro'));
    await world.live(entered(pro));
    await world.tell('ann', { plan: 'pro' });
    expect(await world.runs()).toEqual([
      { who: 'ann', trigger_entry: expect.any(Number), outcome: 'completed' },
    ]);
    await world.tell('ann', { plan: 'free' });
    expect(await world.whoRan()).toEqual(['ann']);
  });

  test('starts a run when somebody leaves, where it is about that', async () => {
    const pro = await world.segment(onPlan('pro'));
    await world.live(left(pro));
    await world.tell('ann', { plan: 'pro' });
    expect(await world.whoRan()).toEqual([]);
    await world.tell('ann', { plan: 'free' });
    expect(await world.whoRan()).toEqual(['ann']);
  });

  test('is for the first time, or every time, as re_entry says', async () => {
    const pro = await world.segment(onPlan('pro'));
    await world.live({ ...entered(pro), ...once }, 'First');
    await world.live(entered(pro), 'Every');
    for (const plan of ['pro', 'free', 'pro', 'free', 'pro']) await world.tell('ann', { plan });
    expect(
      await world.select('reason, event_id, entry is not null as told', 'automations.refusals'),
    ).toEqual([{ reason: 're_entry', event_id: null, told: true }]);
    expect(await world.whoRan()).toEqual(['ann', 'ann', 'ann', 'ann']);
  });

  test('starts nobody who was found in the segment by the look at everybody', async () => {
    await world.tell('ann', { plan: 'pro' });
    const pro = await world.segment(onPlan('pro'));
    await world.live(entered(pro));
    await world.work();
    const where = onPlan('team');
    await inProject(database.deps, world.projectId, (scope) =>
      changeSegment(scope, pro, { version: 1, definition: Definition.parse({ where }) }),
    );
    await world.tell('cleo', { plan: 'team' });
    await world.tell('ben', { plan: 'team' });
    expect(await world.whoRan()).toEqual(['ben']);
  });

  test('begins with what comes after its activation, and again after a pause', async () => {
    const pro = await world.segment(onPlan('pro'));
    await world.tell('ann', { plan: 'pro' });
    const id = await world.live(entered(pro));
    await world.work();
    await world.within((scope) => pause(scope, id));
    await world.tell('ben', { plan: 'pro' });
    await world.within((scope) => resume(scope, id, activation));
    await world.tell('cleo', { plan: 'pro' });
    expect(await world.whoRan()).toEqual(['cleo']);
  });

  test('loses nobody who came in before another version of the same was activated', async () => {
    const pro = await world.segment(onPlan('pro'));
    const id = await world.live(entered(pro));
    const { deps } = database;
    await world.tell('zoe', { plan: 'free' });
    await identify(deps, world.caller, { external_id: 'ann', traits: { plan: 'pro' } });
    await refreshOn(database, world.projectId);
    const definition = automations.Definition.parse({
      ...entered(pro),
      settings: { re_entry: 'every_time' },
      entry: 'other',
      steps: { other: note() },
    });
    await world.within(async (scope) => {
      await automations.addVersion(scope, id, { definition, after: 1 }, activation.doors);
      await automations.activate(scope, id, 2, activation);
    });
    await world.work();
    expect(await world.select('version', 'automations.runs')).toEqual([{ version: 2 }]);
  });
});

describe('the history is read', () => {
  test('whole or not at all: a crash in between neither loses nor doubles', async () => {
    const pro = await world.segment(onPlan('pro'));
    await world.live(entered(pro));
    for (const who of ['ann', 'ben', 'cleo'])
      await identify(database.deps, world.caller, { external_id: who, traits: { plan: 'pro' } });
    await refreshOn(database, world.projectId);
    const crash = new Error('the process is gone');
    const crashing = inProject(database.deps, world.projectId, async (scope) => {
      expect((await automations.readSegmentEntries(scope)).started).toBe(3);
      throw crash;
    });
    await expect(crashing).rejects.toBe(crash);
    expect(await world.whoRan()).toEqual([]);
    await world.work();
    await world.work();
    expect((await world.whoRan()).toSorted()).toEqual(['ann', 'ben', 'cleo']);
  });

  test('by one worker after the other, in pieces, each entry once', async () => {
    const pro = await world.segment(onPlan('pro'));
    await world.live(entered(pro));
    const people = Array.from({ length: 20 }, (_, at) => `p${at}`);
    for (const who of people)
      await identify(database.deps, world.caller, { external_id: who, traits: { plan: 'pro' } });
    await refreshOn(database, world.projectId);
    const readSome = () =>
      inProject(database.deps, world.projectId, (scope) =>
        automations.readSegmentEntries(scope, 3),
      );
    const worker = async () => {
      for (let isMore = true; isMore;) ({ isMore } = await readSome());
    };
    await Promise.all([worker(), worker(), worker()]);
    await world.settle();
    expect((await world.whoRan()).toSorted()).toEqual(people.toSorted());
  });

  test('also of whoever was linked meanwhile: the run is for the person they are by now', async () => {
    const pro = await world.segment(onPlan('pro'));
    await world.live({ ...entered(pro), ...once });
    await world.tell('ann', { plan: 'pro' });
    await identify(database.deps, world.caller, {
      external_id: 'ann',
      anonymous_id: 'device',
      traits: {},
    });
    await world.tell('ann', { plan: 'free' });
    await world.tell('ann', { plan: 'pro' });
    expect(await world.whoRan()).toEqual(['ann']);
  });
});

test('a segment that an automation needs is not deleted, and the refusal names the automation', async () => {
  const pro = await world.segment(onPlan('pro'));
  const free = await world.segment(onPlan('free'));
  const id = await world.live(entered(pro), 'Welcome to Pro');
  await world.live({ settings: { goal: { segment_id: free } } }, 'Until free');
  const remove = (segmentId: string) =>
    inProject(database.deps, world.projectId, (scope) =>
      deleteSegment(scope, segmentId, automations.listSegmentUsers),
    );
  const refused = (name: string) => ({
    reason: 'segment_in_use',
    extras: { detail: expect.stringContaining(`the automation "${name}"`) },
  });
  await expect(remove(pro)).rejects.toMatchObject(refused('Welcome to Pro'));
  await expect(remove(free)).rejects.toMatchObject(refused('Until free'));
  await world.within((scope) => archive(scope, id));
  await remove(pro);
});
