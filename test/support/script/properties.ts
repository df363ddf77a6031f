import fc from 'fast-check';
import { expect } from 'vitest';
import { expectedWorld } from './expected.ts';
import { aliases, identifies, shuffled, tracks, undos } from './ops.ts';
import type { Cast, Op } from './ops.ts';
import { expectSame, nameLink, play, readWorld } from './stage.ts';
import type { Stage } from './stage.ts';

/** Each device belongs to one person, so that no order can make a conflict. */
const OWNERS: Record<string, string> = { d1: 'ann', d2: 'ann', d3: 'bob' };
const CAST: Cast = { devices: Object.keys(OWNERS), people: ['ann', 'bob'] };
const ownerOf = (device: string): string => OWNERS[device] ?? '';

const REPEATED_OPS = 4;

/** A project where this happened, and what is then known there. */
export const tell = async (stage: Stage, cast: Cast, ...acts: Op[][]) => {
  const place = await stage.open();
  for (const act of acts) await play(stage, place, act);
  const world = await readWorld(place, cast);
  expect(world.people, 'every profile is the fold of its identities').toEqual(
    expectedWorld(cast, acts.flat(), world.links).people,
  );
  return { place, world };
};

/** The same events, links and traits, in another order and with repetitions, give the same people. */
export const sameInAnyOrder = (stage: Stage) =>
  fc.asyncProperty(
    fc.array(fc.oneof(tracks(CAST), identifies(CAST, ownerOf), aliases(CAST, ownerOf)), {
      minLength: 1,
      maxLength: 14,
    }),
    fc.array(fc.nat(), { minLength: 5, maxLength: 30 }),
    async (ops, order) => {
      const [first, second] = await Promise.all([
        tell(stage, CAST, ops),
        tell(stage, CAST, shuffled([...ops, ...ops.slice(0, REPEATED_OPS)], order)),
      ]);
      expectSame(second.world, first.world);
    },
  );

/** The device that is linked and let go again; nobody else links it. */
const LINKED = 'd1';

/**
 * A link that is undone leaves what there would be without it, including what came before, meanwhile
 * and afterwards, whether that waits for the link and its undoing or happens at the same time.
 */
export const undoneIsNever = (stage: Stage) => {
  const others = { ...CAST, devices: CAST.devices.filter((device) => device !== LINKED) };
  const ops = fc.array(
    fc.oneof(tracks(CAST), identifies(others, ownerOf), aliases(others, ownerOf)),
    { maxLength: 6 },
  );
  const link: Op[] = [{ kind: 'alias', device: LINKED, person: ownerOf(LINKED) }];
  const undo: Op[] = [{ kind: 'undo', device: LINKED }];
  return fc.asyncProperty(ops, ops, ops, fc.boolean(), async (before, meanwhile, after, waits) => {
    const never = tell(stage, CAST, before, meanwhile, after);
    const linked = waits
      ? tell(stage, CAST, before, link, meanwhile, undo, after)
      : tell(stage, CAST, before, link, [...meanwhile.slice(0, 2), ...undo, ...meanwhile], after);
    expectSame((await linked).world, (await never).world);
  });
};

/** Everybody's ids look like everybody else's, and every device is said to be everybody's. */
const STORM: Cast = { devices: ['d1', 'd2', 'ann'], people: ['ann', 'bob', 'd1'] };

/**
 * Links, undoings, events and traits of the same people all at once, each device said to be of
 * several. Who wins depends on the moment; what must hold does not.
 */
export const stormKeepsOrder = (stage: Stage) =>
  fc.asyncProperty(
    fc.array(
      fc.oneof(
        { weight: 2, arbitrary: tracks(STORM) },
        { weight: 2, arbitrary: identifies(STORM) },
        { weight: 2, arbitrary: aliases(STORM) },
        { weight: 3, arbitrary: undos(STORM) },
      ),
      { minLength: 20, maxLength: 50 },
    ),
    async (ops) => {
      const { place, world } = await tell(stage, STORM, ops);
      const links = await place.look((view) => view.listLinks());
      const active = links.filter(({ status }) => status === 'active');
      expect(active.map(nameLink).toSorted()).toEqual(world.links);
      const linked = active.map(({ anonymous_id }) => anonymous_id);
      expect(new Set(linked).size, 'a device has one person at most').toBe(linked.length);
      for (const link of links) {
        expect(link.undone_at !== null, JSON.stringify(link)).toBe(link.status === 'undone');
        expect(link.reason !== undefined, JSON.stringify(link)).toBe(link.status === 'refused');
      }
    },
  );
