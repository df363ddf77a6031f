// Pausing, resuming, archiving and moving, in every state that a run can be in.
import { describe, expect, test } from 'vitest';
import {
  activate,
  addVersion,
  archive,
  moveInside,
  pause,
  resume,
} from '../../src/automations/life.ts';
import { Definition } from '../../src/automations/schema.ts';
import type { NewDefinition } from '../../src/automations/schema.ts';
import { testDatabase } from '../support/database.ts';
import { activation, doors } from './doors.ts';
import { endpointWorlds } from './with_endpoint.ts';
import { note } from './with_segments.ts';

const database = testDatabase();
const { sink, world } = endpointWorlds(database);

type Step = NewDefinition['steps'][string];
type State = {
  /** The step that the run is at. */
  step: (world: { endpointId: string }) => Step;
  /** How it comes into the state. */
  reach?: (id: string) => Promise<unknown>;
  /** What it takes to go on, besides time. */
  go?: () => Promise<unknown>;
};

const delay = (next: string | null): Step => ({ kind: 'delay', duration: 'P1D', next });
const waiting = (next: string | null): Step => ({
  kind: 'wait_for_event',
  event: 'paid',
  timeout: 'P1D',
  next,
  on_timeout: next,
});
const set = (statement: string) =>
  database.owner.query(`${statement} where project_id = $1`, [world.projectId]);
const within = <T>(work: Parameters<typeof world.within<T>>[0]) => world.within(work);

const STATES: Record<string, State> = {
  'waits for a time': { step: () => delay('told') },
  'waits for an event': { step: () => waiting('told'), go: () => world.happen('paid') },
  'waits for a call that nobody has made': {
    step: ({ endpointId }) => ({ kind: 'webhook', endpoint_id: endpointId, next: 'told' }),
    go: () => world.call(),
  },
  'waits for the next try of a call': {
    step: ({ endpointId }) => ({ kind: 'webhook', endpoint_id: endpointId, next: 'told' }),
    reach: async () => {
      sink.play('/hooks', { status: 500 }, 1);
      await world.call();
    },
    go: async () => {
      await world.passRetry();
      await world.call();
    },
  },
  'has failed': {
    step: () => delay('told'),
    reach: () => set(`update automations.runs set status = 'failed', ended_at = now()`),
  },
  'is frozen': {
    step: () => delay('told'),
    reach: async (id) => {
      await within((scope) => pause(scope, id));
      await world.pass('1 day');
      await world.settle();
    },
    go: async () => {
      const [{ automation_id: id }] = await world.select(
        'automation_id',
        'automations.automations',
      );
      await within((scope) => resume(scope, id, activation));
      await world.settle();
    },
  },
};
const LIVING = Object.keys(STATES).filter((name) => name !== 'has failed');

const definition = (steps: NewDefinition['steps'], entry = 'at'): NewDefinition => ({
  trigger: { kind: 'event', event: 'trial_started' },
  settings: { re_entry: 'every_time' },
  entry,
  steps,
});

/** A run in a state; answers its automation. */
const begin = async (name: string) => {
  const state = STATES[name];
  if (!state) throw new Error(name);
  const step = state.step(world);
  const steps = { at: step, told: note() };
  const { activate: makeActive } = world;
  const id = await makeActive(definition(steps));
  await world.happen('trial_started');
  await state.reach?.(id);
  const goOn = async () => {
    await world.pass('1 day');
    await world.settle();
    await state.go?.();
    await world.settle();
  };
  return { id, step, goOn };
};
const runNow = async () => {
  const [run] = await world.select('status, outcome, version, step_id', 'automations.runs');
  return run;
};
const follow = async (id: string, next: NewDefinition) => {
  await within((scope) =>
    addVersion(scope, id, { definition: Definition.parse(next), after: 1 }, doors),
  );
  // The next version of what is paused is followed from when it goes on.
  const [{ status }] = await world.select('status', 'automations.automations');
  await within((scope) => activate(scope, id, 2, activation));
  if (status === 'paused') {
    await within((scope) => pause(scope, id));
    await set(`update automations.runs set status = 'paused'`);
  }
};

describe.each(LIVING)('a run that %s', (name) => {
  test('goes nowhere while its automation is paused, and on to its end once that is resumed', async () => {
    const { id, goOn } = await begin(name);
    await within((scope) => pause(scope, id));
    if (name !== 'is frozen') await goOn();
    expect(await runNow()).toMatchObject({ outcome: null, step_id: 'at' });
    expect(await world.names()).not.toContain('profile_updated');
    await within((scope) => resume(scope, id, activation));
    await world.settle();
    await goOn();
    expect(await runNow()).toMatchObject({ status: 'ended', outcome: 'completed' });
    expect((await world.names()).filter((one) => one === 'profile_updated')).toHaveLength(1);
  });

  test('ends when its automation is archived, and is told nothing more', async () => {
    const { id, goOn } = await begin(name);
    const told = sink.requests.length;
    await within((scope) => archive(scope, id));
    expect(await runNow()).toMatchObject({ status: 'ended', outcome: 'archived' });
    if (name !== 'is frozen') await goOn();
    expect(await runNow()).toMatchObject({ status: 'ended', outcome: 'archived' });
    expect(await world.names()).not.toContain('profile_updated');
    expect(sink.requests).toHaveLength(told);
    expect(await world.select('run_id', 'automations.waits')).toEqual([]);
  });

  test('that is moved goes on by the other version, where it is', async () => {
    const { id, step, goOn } = await begin(name);
    await follow(id, definition({ at: step, told: note('more'), more: note() }));
    expect(await within((scope) => moveInside(scope, id))).toEqual({
      on_it: 1,
      stayed: 0,
      left: 0,
    });
    await goOn();
    expect(await runNow()).toMatchObject({ outcome: 'completed', version: 2 });
    expect((await world.decisions()).map(({ step_id }) => step_id)).toContain('more');
    const calls = await world.calls();
    expect(calls.length).toBeLessThanOrEqual(1);
  });

  test.each([
    [
      'does not have its step',
      (step: Step) => definition({ elsewhere: step, told: note() }, 'elsewhere'),
    ],
    [
      'has a step of another kind there',
      ({ kind }: Step) =>
        definition({ at: kind === 'delay' ? waiting('told') : delay('told'), told: note() }),
    ],
  ])('stays on its own version when the other %s', async (_what, next) => {
    const { id, step, goOn } = await begin(name);
    await follow(id, next(step));
    expect(await within((scope) => moveInside(scope, id))).toEqual({
      on_it: 0,
      stayed: 1,
      left: 0,
    });
    await goOn();
    expect(await runNow()).toMatchObject({ outcome: 'completed', version: 1 });
  });
});

test('a run that has failed stays so, whatever becomes of its automation', async () => {
  const { id, step, goOn } = await begin('has failed');
  const failed = { status: 'failed', version: 1, step_id: 'at' };
  await within((scope) => pause(scope, id));
  await within((scope) => resume(scope, id, activation));
  await follow(id, definition({ at: step, told: note() }));
  expect(await within((scope) => moveInside(scope, id))).toEqual({ on_it: 0, stayed: 0, left: 0 });
  await goOn();
  expect(await runNow()).toMatchObject(failed);
  await within((scope) => archive(scope, id));
  expect(await runNow()).toMatchObject(failed);
});

describe('a pause for longer than expires_after', () => {
  const LONG = '4 days';
  const paused = async (step: Step, meanwhile: () => Promise<unknown>) => {
    const id = await world.activate(definition({ at: step, told: note() }));
    await world.happen('trial_started');
    await within((scope) => pause(scope, id));
    await meanwhile();
    await world.settle();
    await world.pass(LONG);
    await within((scope) => resume(scope, id, activation));
    await world.settle();
  };
  const month = { kind: 'wait_for_event' as const, event: 'paid', timeout: 'P30D' };

  test('ends whoever was due before it was that long ago', async () => {
    await paused(delay('told'), () => world.pass('1 day'));
    expect(await runNow()).toMatchObject({ outcome: 'expired' });
  });

  test('is none for whoever was only woken in it, and has to wait on', async () => {
    const where = [{ property: 'total', test: { is: 'at_least' as const, value: 10 } }];
    const step: Step = { ...month, where, next: 'told', on_timeout: null };
    await paused(step, () => world.happen('paid'));
    expect(await runNow()).toMatchObject({ status: 'active', outcome: null, step_id: 'at' });
  });

  test('ends whoever would have gone on that long ago', async () => {
    const step: Step = { ...month, next: 'told', on_timeout: null };
    await paused(step, () => world.happen('paid'));
    expect(await runNow()).toMatchObject({ outcome: 'expired' });
  });
});
