// A goal may be a segment, and a branch may ask whatever a segment may ask.
import { beforeEach, describe, expect, test } from 'vitest';
import { Definition } from '../../src/automations/automations.ts';
import type { NewDefinition } from '../../src/automations/schema.ts';
import { identify } from '../../src/profiles/identify.ts';
import { CONDITIONS_MAX, DEPTH_MAX } from '../../src/segments/schema.ts';
import type { Condition } from '../../src/segments/schema.ts';
import { refreshOn } from '../segments/recount.ts';
import { testDatabase } from '../support/database.ts';
import { BEGAN, runOf } from './past_of.ts';
import { definition } from './journeys.ts';
import { note, onPlan, withSegments } from './with_segments.ts';

const database = testDatabase();
let world: ReturnType<typeof withSegments>;
beforeEach(() => {
  world = withSegments(database);
});

const trigger = { kind: 'event' as const, event: 'trial_started', where: [] };
const happen = (name: string, external_id = 'ann') => world.happen(name, external_id);

describe('a goal that is a segment', () => {
  const waiting = (segment_id: string): Partial<NewDefinition> => ({
    trigger,
    settings: { goal: { segment_id } },
    entry: 'delay',
    steps: { delay: { kind: 'delay', duration: 'P3D', next: 'note' }, note: note() },
  });

  test('is reached by whoever comes into it: they leave at once, as converted', async () => {
    const pro = await world.segment(onPlan('pro'));
    await world.live(waiting(pro));
    await happen('trial_started');
    await happen('trial_started', 'ben');
    expect(await world.select('for_what, event_name, segment_id', 'automations.waits')).toEqual(
      [1, 2].map(() => ({ for_what: 'goal', event_name: null, segment_id: pro })),
    );
    await world.tell('ann', { plan: 'pro' });
    expect(await world.select('outcome, status', 'automations.runs')).toEqual([
      { outcome: 'converted', status: 'ended' },
      { outcome: null, status: 'active' },
    ]);
    const detail = { segment_id: pro, entry: expect.any(String) };
    expect(await world.decisions()).toContainEqual({
      step_id: 'delay',
      decision: 'goal_reached',
      detail,
    });
    await world.tell('ben', { plan: 'pro' });
    expect(await world.select('run_id', 'automations.waits')).toEqual([]);
  });

  test('is not reached by having been in it before, but by coming in again', async () => {
    const pro = await world.segment(onPlan('pro'));
    await world.tell('ann', { plan: 'pro' });
    await world.live(waiting(pro));
    await happen('trial_started');
    await world.work();
    expect(await world.names()).toEqual(['delayed']);
    await world.tell('ann', { plan: 'free' });
    await world.tell('ann', { plan: 'pro' });
    expect(await world.names()).toEqual(['delayed', 'goal_reached']);
  });

  test('is not missed by a run that begins to wait while its person comes in', async () => {
    const pro = await world.segment(onPlan('pro'));
    await world.live(waiting(pro));
    await world.start(await world.flushOf('trial_started'));
    // Came in, and was read, before the run was walked at all: nobody waits yet who could be woken.
    await identify(database.deps, world.caller, { external_id: 'ann', traits: { plan: 'pro' } });
    await refreshOn(database, world.projectId);
    await world.read();
    await world.settle();
    expect(await world.names()).toEqual(['goal_reached']);
  });
});

describe('a branch on the person', () => {
  const asking = (...whens: Condition[]): NewDefinition =>
    definition({
      trigger,
      settings: {},
      entry: 'ask',
      steps: {
        ask: {
          kind: 'branch',
          branches: whens.map((where) => ({ when: where, next: 'note' })),
          otherwise: null,
        },
        note: note(),
      },
    });
  const taken = async (where: Condition): Promise<string> => {
    await world.live(asking(where), JSON.stringify(where).slice(0, 100));
    await happen('trial_started');
    const { detail } = (await world.decisions()).findLast(({ step_id }) => step_id === 'ask');
    return detail.branch;
  };

  test('asks in the language of segments: membership, tags, counts of events, times, nested', async () => {
    const pro = await world.segment(onPlan('pro'));
    await world.tell('ann', { plan: 'pro' });
    const inPro: Condition = { kind: 'segment', segment_id: pro };
    const started: Condition = {
      kind: 'event',
      event: 'trial_started',
      where: [],
      count: { is: 'at_least', value: 2 },
    };
    expect(await taken(inPro)).toBe('1');
    expect(await taken({ kind: 'not', of: inPro })).toBe('otherwise');
    expect(await taken({ kind: 'all', of: [inPro, started] })).toBe('1');
    expect(await taken({ kind: 'tag', tag: 'complained' })).toBe('otherwise');
    expect(await taken({ kind: 'suppressed' })).toBe('otherwise');
    expect(await taken({ ...started, count: { is: 'at_most', value: 5 } })).toBe('otherwise');
  });

  test('goes the first way that holds', async () => {
    const run = runOf(asking({ kind: 'suppressed' }, { kind: 'subscribed' }), {
      holding: ['subscribed'],
    });
    await run.walkAt(BEGAN);
    expect(run.decisions[0]).toBe('branched');
  });

  test('is refused past the depth and the count of conditions that a segment may have', () => {
    const deep = (levels: number): Condition => {
      let where: Condition = { kind: 'suppressed' };
      for (let level = 1; level < levels; level += 1) where = { kind: 'not', of: where };
      return where;
    };
    const wide = (count: number): Condition => ({
      kind: 'any',
      of: Array.from({ length: count - 1 }, (): Condition => ({ kind: 'suppressed' })),
    });
    const isGood = (where: Condition) => Definition.safeParse(asking(where)).success;
    expect([isGood(deep(DEPTH_MAX)), isGood(deep(DEPTH_MAX + 1))]).toEqual([true, false]);
    expect(isGood(deep(20_000))).toBe(false);
    expect([isGood(wide(CONDITIONS_MAX)), isGood(wide(CONDITIONS_MAX + 1))]).toEqual([true, false]);
  });
});
