// Whoever is found by the look at everybody for a definition did not come in: it starts nobody, anywhere. Whoever
// really comes in meanwhile did.
import { beforeEach, describe, expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { identify } from '../../src/profiles/identify.ts';
import { fillNext } from '../../src/segments/fill.ts';
import { importPeople } from '../../src/segments/import_people.ts';
import { findSegment, holdProject, listStands } from '../../src/segments/record_queries.ts';
import { Definition } from '../../src/segments/schema.ts';
import type { Condition } from '../../src/segments/schema.ts';
import { changeSegment, createSegment } from '../../src/segments/segments.ts';
import { create, listKept, ordered, refreshOn } from '../segments/recount.ts';
import { testDatabase } from '../support/database.ts';
import { takeTurn } from '../support/refresh_segments.ts';
import { onPlan, withSegments } from './with_segments.ts';

const database = testDatabase();
let world: ReturnType<typeof withSegments>;
beforeEach(() => {
  world = withSegments(database);
});

const entered = (segment_id: string) => ({
  trigger: { kind: 'segment_entered' as const, segment_id },
});
const left = (segment_id: string) => ({ trigger: { kind: 'segment_left' as const, segment_id } });
const inside = (segment_id: string): Condition => ({ kind: 'segment', segment_id });
const not = (of: Condition): Condition => ({ kind: 'not', of });
const any = (...of: Condition[]): Condition => ({ kind: 'any', of });

const change = (segmentId: string, where: Condition, version = 1) =>
  inProject(database.deps, world.projectId, (scope) =>
    changeSegment(scope, segmentId, { version, definition: Definition.parse({ where }) }),
  );
const tellOnly = (external_id: string, traits: Record<string, string>) =>
  identify(database.deps, world.caller, { external_id, traits });
const turn = () => takeTurn(database.deps, world.projectId, new Date());
const standOf = async (segmentId: string) =>
  (await world.within((scope) => findSegment(scope, segmentId)))?.status;
/** Until the look at everybody has begun, and has found nobody yet. */
const beginFill = async (segmentId: string): Promise<void> => {
  while ((await standOf(segmentId)) === 'counting') await turn();
  expect(await standOf(segmentId)).toBe('filling');
};
/** Looks at the next people, and at nobody who changed before. */
const fillOnce = () =>
  world.within(async (scope) => {
    await holdProject(scope);
    return fillNext(scope, await listStands(scope), new Date());
  });

describe('a fill of a segment that others ask about', () => {
  test('starts nobody there, neither by coming nor by going, by way of how many it may be', async () => {
    for (const who of ['ann', 'ben']) await world.tell(who, { plan: 'team' });
    const pro = await world.segment(onPlan('pro'));
    const asking = await world.segment(inside(pro));
    const further = await world.segment(not(inside(asking)));
    await world.live(entered(asking), 'In');
    await world.live(left(further), 'Out');
    await change(pro, any(onPlan('pro'), onPlan('team')));
    await world.work();
    expect(await listKept(database, asking)).toHaveLength(2);
    expect(await listKept(database, further)).toEqual([]);
    expect(await world.whoRan()).toEqual([]);
    await world.tell('cleo', { plan: 'team' });
    expect(await world.whoRan()).toEqual(['cleo']);
    await world.tell('ann', { plan: 'free' });
    await world.tell('ann', { plan: 'pro' });
    expect((await world.whoRan()).toSorted()).toEqual(['ann', 'ann', 'cleo']);
  });

  test('leaves what really happened before it what it is, looked at or not', async () => {
    await world.tell('ann', { plan: 'free', seats: 'few' });
    const many: Condition = {
      kind: 'trait',
      trait: 'seats',
      test: { is: 'equals', value: 'many' },
    };
    const pro = await world.segment(onPlan('pro'));
    const asking = await world.segment(any(inside(pro), many));
    await world.live(entered(asking));
    await change(pro, any(onPlan('pro'), onPlan('free')));
    await beginFill(pro);
    await tellOnly('ann', { seats: 'many' });
    await fillOnce();
    await world.work();
    expect(await world.whoRan()).toEqual(['ann']);
  });
});

describe('while everybody is looked at for a new segment', () => {
  test('whoever was like that before starts nothing, whatever else happens to them', async () => {
    await world.tell('ann', { plan: 'pro' });
    const { segment_id: pro } = await create(database, world.projectId, onPlan('pro'));
    await world.live(entered(pro));
    await beginFill(pro);
    await tellOnly('ann', { city: 'Graz' });
    await world.work();
    expect(await listKept(database, pro)).toHaveLength(1);
    expect(await world.whoRan()).toEqual([]);
  });

  test('whoever is new comes into it', async () => {
    const { segment_id: pro } = await create(database, world.projectId, onPlan('pro'));
    await world.live(entered(pro));
    await beginFill(pro);
    await tellOnly('ann', { plan: 'pro' });
    await fillOnce();
    await world.work();
    expect(await world.whoRan()).toEqual(['ann']);
  });
});

describe('while everybody is looked at for another version', () => {
  test('whom that has not reached comes and goes by the version before', async () => {
    for (const who of ['ann', 'ben']) await world.tell(who, { plan: 'free' });
    await world.tell('cleo', { plan: 'team' });
    const paying = await world.segment(onPlan('pro'));
    await world.live(entered(paying));
    await change(paying, any(onPlan('pro'), onPlan('team')));
    await beginFill(paying);
    await tellOnly('ann', { plan: 'pro' });
    await tellOnly('cleo', { city: 'Graz' });
    await turn();
    await world.work();
    expect(await world.whoRan()).toEqual(['ann']);
    expect(await listKept(database, paying)).toHaveLength(2);
    await world.tell('ben', { plan: 'team' });
    expect(await world.whoRan()).toEqual(['ann', 'ben']);
  });

  test('a third version waits for its end, and moves nobody in the name of the person', async () => {
    await world.tell('ann', { plan: 'team' });
    const paying = await world.segment(onPlan('pro'));
    await world.live(entered(paying));
    await world.live(left(paying), 'Out');
    await change(paying, onPlan('team'));
    await beginFill(paying);
    await change(paying, onPlan('free'), 2);
    await tellOnly('ann', { city: 'Graz' });
    await world.work();
    expect(await listKept(database, paying)).toEqual([]);
    const told = await world.select('change, cause, version', 'segments.history');
    expect(told).toEqual([
      { change: 'entered', cause: 'fill', version: 2 },
      { change: 'left', cause: 'fill', version: 3 },
    ]);
    expect(await world.whoRan()).toEqual([]);
  });
});

test('whoever is imported into a static segment before it was ready comes into it', async () => {
  await world.tell('ann', { plan: 'free' });
  const segmentId = newId();
  await world.within((scope) =>
    createSegment(scope, { segmentId, name: 'Guests', definition: null }),
  );
  await world.live(entered(segmentId));
  const people = [{ external_id: 'ann' }];
  await world.within((scope) => importPeople(scope, { segmentId, importId: newId() }, { people }));
  await world.work();
  expect(await world.whoRan()).toEqual(['ann']);
});

test('segments that change places in asking about each other never do so in a circle', async () => {
  const first = await world.segment(onPlan('pro'));
  const second = await world.segment(inside(first));
  const third = await world.segment(inside(second));
  await change(second, ordered());
  await change(first, inside(third));
  // Each turn has somebody to look at, while the second is still counted and the first could begin.
  for (let at = 0; at < 8; at += 1) {
    await tellOnly(`p${at}`, { plan: 'pro' });
    await turn();
  }
  await refreshOn(database, world.projectId);
  expect([await standOf(first), await standOf(second), await standOf(third)]).toEqual([
    'ready',
    'ready',
    'ready',
  ]);
  expect(await listKept(database, first)).toEqual([]);
});
