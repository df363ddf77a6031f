// What holds of links when servers and browsers disagree.
import fc from 'fast-check';
import { expect } from 'vitest';
import { BROWSER_LINKS_A_DAY_MAX } from '../../../src/identity/identity.ts';
import { expectedLinks } from './link_model.ts';
import { aliases, identifies, shuffled, tracks, undos } from './ops.ts';
import type { Cast, Identify, Op } from './ops.ts';
import { tell } from './properties.ts';
import { expectSame } from './stage.ts';
import type { Stage } from './stage.ts';

/** Whom servers say that each device belongs to, and whom browsers do. */
const SAID = {
  server: { d1: 'ann', d2: 'ann', d3: 'bob' },
  publishable: { d1: 'bob', d2: 'ann', d3: 'ann' },
} as const;
type Device = keyof typeof SAID.server;
const CAST: Cast = { devices: Object.keys(SAID.server), people: ['ann', 'bob'] };

const says = (device: string): string => SAID.server[device as Device];
/** Each key says its own of a device, always the same. */
const asItsKeySays = (op: Identify): Identify =>
  op.device === null ? op : { ...op, person: SAID[op.key][op.device as Device] };
const told = identifies(CAST).map(asItsKeySays);

/** The server's word counts, whether it comes before the browser's or after it. */
export const serverWinsInAnyOrder = (stage: Stage) =>
  fc.asyncProperty(
    fc.array(fc.oneof(tracks(CAST), told, aliases(CAST, says)), { minLength: 1, maxLength: 14 }),
    fc.array(fc.nat(), { minLength: 5, maxLength: 30 }),
    async (ops, order) => {
      const [first, second] = await Promise.all([
        tell(stage, CAST, ops),
        tell(stage, CAST, shuffled([...ops, ...ops.slice(0, 4)], order)),
      ]);
      expectSame(second.world, first.world);
    },
  );

/** The device that a browser links to one person, and a server to another. */
const LINKED: Device = 'd1';

/**
 * A server's link that replaced a browser's and is undone leaves what there would be without it: the browser's link,
 * and what came before, meanwhile and afterwards.
 */
export const replacedIsRestored = (stage: Stage) => {
  const others = { ...CAST, devices: CAST.devices.filter((device) => device !== LINKED) };
  const ofBrowsers = told.map((op) =>
    op.device === LINKED ? asItsKeySays({ ...op, key: 'publishable' }) : op,
  );
  const ops = fc.array(fc.oneof(tracks(CAST), ofBrowsers, aliases(others, says)), { maxLength: 6 });
  const linking = ofBrowsers.map((op) =>
    asItsKeySays({ ...op, device: LINKED, key: 'publishable' }),
  );
  const replace: Op[] = [{ kind: 'alias', device: LINKED, person: says(LINKED) }];
  const undo: Op[] = [{ kind: 'undo', device: LINKED }];
  return fc.asyncProperty(ops, linking, ops, ops, async (before, link, meanwhile, after) => {
    const never = tell(stage, CAST, before, [link], meanwhile, after);
    const replaced = tell(stage, CAST, before, [link], replace, meanwhile, undo, after);
    expectSame((await replaced).world, (await never).world);
  });
};

/** More devices than browsers may link to one person within a day. */
const CROWD: Cast = {
  devices: Array.from({ length: BROWSER_LINKS_A_DAY_MAX + 2 }, (_, at) => `d${at}`),
  people: ['ann', 'bob'],
};
/** Most wishes are for one person, so that the limit of a day is met. */
const mostlyAnn = (_: string, person: string): string => (person === 'bob' ? 'bob' : 'ann');
const wishes = identifies({ ...CROWD, people: ['ann', 'ann', 'ann', 'ann', 'bob'] }, mostlyAnn);

/** One wish after the other: links stand as the model says, its limits included. */
export const linksAsTheModelSays = (stage: Stage) =>
  fc.asyncProperty(
    fc.array(
      fc.oneof(
        { weight: 6, arbitrary: wishes.map((op) => ({ ...op, key: 'publishable' as const })) },
        { weight: 2, arbitrary: wishes },
        { weight: 1, arbitrary: aliases(CROWD) },
        { weight: 2, arbitrary: undos(CROWD) },
      ),
      { minLength: 20, maxLength: 60, size: 'max' },
    ),
    async (ops) => {
      const { world } = await tell({ ...stage, lanes: 1 }, CROWD, ops);
      expect(world.links).toEqual(expectedLinks(ops));
    },
  );
