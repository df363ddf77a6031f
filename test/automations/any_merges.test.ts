// Random enrollments, links and undos of a few people and devices: after each of them every run stands as the re-entry
// rule of its automation says for who is one person now, and once all links are undone, as if there had been none.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { testDatabase } from '../support/database.ts';
import { SERIES, withMerges } from './with_merges.ts';

const database = testDatabase();
const SEED = 20_261;
const SCRIPTS = 25;

const PEOPLE = ['ann', 'ben'];
const DEVICES = ['Phone', 'Tablet', 'Watch'];
const DAY_MS = 86_400_000;

const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('enroll' as const),
      who: fc.constantFrom(...PEOPLE, ...DEVICES),
      order: fc.integer({ min: 1, max: 2 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('link' as const),
      who: fc.constantFrom(...PEOPLE),
      device: fc.constantFrom(...DEVICES),
      by: fc.constantFrom('server' as const, 'publishable' as const),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('undo' as const),
      device: fc.constantFrom(...DEVICES),
    }),
  },
  { weight: 2, arbitrary: fc.constant({ kind: 'day' as const }) },
  // The next thing happens before the runs are compared.
  { weight: 1, arbitrary: fc.constant({ kind: 'hurry' as const }) },
);
const rules = fc.constantFrom<object | 'once'>(
  'once',
  { once_per: 'P3D' },
  { by_property: 'order' },
);

type Row = {
  run_id: string;
  who: string;
  profile_id: string;
  started_at: Date;
  entry_key: string;
  status: string;
  outcome: string | null;
};

/** The rule in words of its own: whether the second run may be beside the first, in one person. */
const mayBeBeside = (rule: object | 'once', first: Row, second: Row): boolean => {
  if (first.who === second.who) return true;
  if (rule === 'once') return false;
  if ('by_property' in (rule as object))
    return first.entry_key.split('/').at(-1) !== second.entry_key.split('/').at(-1);
  return second.started_at.getTime() - first.started_at.getTime() >= 3 * DAY_MS;
};

const seen: Record<string, number> = {};

test('after each link and undo every run stands as the rule says', async () => {
  const property = fc.asyncProperty(
    rules,
    fc.array(step, { minLength: 8, maxLength: 24, size: 'max' }),
    async (rule, script) => {
      const world = withMerges(database);
      await world.activate({ ...SERIES, settings: { re_entry: rule as never } });
      for (const who of [...PEOPLE, ...DEVICES]) await world.know(who);
      const read = async (): Promise<Row[]> =>
        (
          await database.owner.query<Row>(
            `select run.run_id, known.value as who, known.profile_id, run.started_at, run.entry_key, run.status,
              run.outcome
            from automations.runs as run
            join identity.identities as known on known.project_id = $1 and known.identity_id = run.identity_id
            where run.project_id = $1 order by run.started_at, run.run_id`,
            [world.projectId],
          )
        ).rows;
      const check = async (): Promise<void> => {
        const runs = await read();
        for (const run of runs) {
          const blocking = runs.filter(
            (other) =>
              other.profile_id === run.profile_id &&
              other.outcome !== 'merged' &&
              (other.started_at < run.started_at ||
                (other.started_at.getTime() === run.started_at.getTime() &&
                  other.run_id < run.run_id)) &&
              !mayBeBeside(rule, other, run),
          );
          const isMerged = run.outcome === 'merged';
          if (run.status === 'active') expect([run.who, blocking]).toEqual([run.who, []]);
          if (isMerged) expect([run.who, blocking.length > 0]).toEqual([run.who, true]);
          seen[run.outcome ?? run.status] = (seen[run.outcome ?? run.status] ?? 0) + 1;
        }
      };
      let isHurried = false;
      for (const one of script) {
        if (one.kind === 'enroll') await world.enroll(one.who, { order: one.order });
        if (one.kind === 'link') await world.link(one.device, one.who, one.by);
        if (one.kind === 'undo') await world.undo(one.device);
        if (one.kind === 'day') await world.nextDay();
        if (one.kind === 'hurry') isHurried = true;
        else if (isHurried) isHurried = false;
        else {
          await world.settle();
          await check();
        }
      }
      // A link that replaced another one brings that back.
      for (const _ of DEVICES) for (const device of DEVICES) await world.undo(device);
      await world.settle();
      await check();
      const left = (await read()).filter(({ outcome }) => outcome === 'merged');
      expect(left).toEqual([]);
    },
  );
  await fc.assert(property, { seed: SEED, numRuns: SCRIPTS, endOnFailure: true });
  expect(seen['merged']).toBeGreaterThan(10);
}, 300_000);
