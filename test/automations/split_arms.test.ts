// A person has one arm of a split, whichever of their runs comes to it, before and after a merge.
import { beforeEach, describe, expect, test } from 'vitest';
import { testDatabase } from '../support/database.ts';
import { DELAY, withMerges } from './with_merges.ts';

const database = testDatabase();
let world: ReturnType<typeof withMerges>;
beforeEach(() => {
  world = withMerges(database);
});

const both = async () => {
  await world.know('ann');
  await world.know('Phone');
  await world.enroll('ann');
  await world.enroll('Phone');
};
const linked = async (): Promise<void> => {
  await world.link('Phone');
  await world.settle();
};
const undone = async (): Promise<void> => {
  await world.undo('Phone');
  await world.settle();
};

describe('the arm of a split', () => {
  const ways = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((name) => ({
    name,
    weight: 1,
    next: 'wait',
  }));
  const splitting = (re_entry: 'once' | 'every_time') => ({
    settings: { re_entry },
    entry: 'first',
    steps: {
      first: { ...DELAY, next: 'split' },
      split: { kind: 'split' as const, ways },
      wait: { ...DELAY, next: null },
    },
  });
  const armOf = async (who: string) =>
    (await world.logOf(who)).find(({ decision }) => decision === 'split')?.detail['way'];

  test('is the one that the person already has, whichever run passed the split', async () => {
    // Which arms two people have is chance: of eight arms, they may have the same one.
    for (let round = 0; round < 4; round += 1) {
      world = withMerges(database);
      await world.activate(splitting('once'));
      await both();
      await world.passFor('Phone');
      await world.advance();
      const before = await armOf('Phone');
      expect(before).toBeDefined();
      await linked();
      await world.nextDay();
      expect(await armOf('ann')).toBe(before);
    }
  });

  test('of a later run is the same as well, and after an undo each has their own run’s', async () => {
    await world.activate(splitting('every_time'));
    await both();
    await world.passFor('Phone');
    await world.advance();
    const before = await armOf('Phone');
    await linked();
    await world.nextDay();
    expect(await armOf('ann')).toBe(before);
    await world.enroll('ann');
    await world.nextDay();
    expect(await armOf('ann')).toBe(before);
    await undone();
    await world.enroll('Phone');
    await world.nextDay();
    expect(await armOf('Phone')).toBe(before);
  });

  test('is the holdout, where another run of the person was held out', async () => {
    const held = {
      kind: 'split' as const,
      ways: [
        { name: 'control', weight: 1, next: null, is_holdout: true },
        { name: 'other', weight: 1, next: 'wait' },
      ],
    };
    await world.activate({
      ...splitting('every_time'),
      steps: { ...splitting('every_time').steps, split: held },
    });
    await world.know('ann');
    await world.enroll('ann');
    // Chance holds out every second device.
    const isHeldOut = async (device: string): Promise<boolean> => {
      await world.know(device);
      await world.enroll(device);
      await world.passFor(device);
      await world.advance();
      return (await world.decided(device)).includes('held_out');
    };
    let devices = 1;
    while (!(await isHeldOut(`Phone ${devices}`))) devices += 1;
    await world.link(`Phone ${devices}`);
    await world.settle();
    await world.passFor('ann');
    await world.advance();
    expect(await world.decided('ann')).toEqual(['delayed', 'delay_over', 'held_out']);
  });
});
