// Whatever people do, and whatever crashes meanwhile: one run for each entry that a trigger is about, and no other.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import * as automations from '../../src/automations/automations.ts';
import { inProject } from '../../src/base/db.ts';
import { identify } from '../../src/profiles/identify.ts';
import { refreshOn } from '../segments/recount.ts';
import { testDatabase } from '../support/database.ts';
import { onPlan, withSegments } from './with_segments.ts';

const database = testDatabase();
const SEED = 4_711;
const SCRIPTS = 10;

const who = fc.integer({ min: 0, max: 3 }).map((at) => `p${at}`);
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('change' as const),
      who,
      plan: fc.constantFrom('pro', 'free'),
    }),
  },
  fc.record({ kind: fc.constant('link' as const), who, device: fc.constantFrom('d1', 'd2') }),
  { weight: 3, arbitrary: fc.constant({ kind: 'refresh' as const }) },
  fc.record({ kind: fc.constant('read' as const), entriesMax: fc.integer({ min: 1, max: 3 }) }),
  fc.constant({ kind: 'crash' as const }),
  fc.constant({ kind: 'together' as const }),
  fc.constant({ kind: 'walk' as const }),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
type World = ReturnType<typeof withSegments>;

const crash = new Error('the process is gone');

const perform = async (world: World, one: Step): Promise<void> => {
  const { deps } = database;
  const { projectId, caller } = world;
  const read = (entriesMax: number) =>
    inProject(deps, projectId, (scope) => automations.readSegmentEntries(scope, entriesMax));
  switch (one.kind) {
    case 'change':
      await identify(deps, caller, { external_id: one.who, traits: { plan: one.plan } });
      return;
    case 'link':
      await identify(deps, caller, { external_id: one.who, anonymous_id: one.device, traits: {} });
      return;
    case 'refresh':
      await refreshOn(database, projectId);
      return;
    case 'read':
      await read(one.entriesMax);
      return;
    case 'together':
      await Promise.all([read(2), read(2)]);
      return;
    case 'walk':
      return world.settle();
    case 'crash':
      await inProject(deps, projectId, async (scope) => {
        await automations.readSegmentEntries(scope);
        throw crash;
      }).catch((error: unknown) => expect(error).toBe(crash));
  }
};

/** The entries that a trigger is about, and those that runs began by. */
const compare = async ({ projectId }: World, segmentId: string, change: string) => {
  const { rows: told } = await database.owner.query<{ entry: number }>(
    `select entry::int from segments.history
     where project_id = $1 and segment_id = $2 and change = $3 and cause <> 'fill' order by entry`,
    [projectId, segmentId, change],
  );
  const { rows: begun } = await database.owner.query<{ entry: number }>(
    `select run.trigger_entry::int as entry from automations.runs as run
     join automations.segment_triggers as trigger using (project_id, automation_id)
     where project_id = $1 and trigger.change = $2 order by 1`,
    [projectId, change],
  );
  return { told: told.map(({ entry }) => entry), begun: begun.map(({ entry }) => entry) };
};

let runs = 0;

test('a run for each entry of the history, once, in whatever order things happen', async () => {
  const property = fc.asyncProperty(
    fc.array(step, { minLength: 15, maxLength: 40, size: 'max' }),
    async (script) => {
      const world = withSegments(database);
      const segment_id = await world.segment(onPlan('pro'));
      await world.live({ trigger: { kind: 'segment_entered', segment_id } }, 'In');
      await world.live({ trigger: { kind: 'segment_left', segment_id } }, 'Out');
      for (const one of script) await perform(world, one);
      await world.work();
      for (const change of ['entered', 'left']) {
        const { told, begun } = await compare(world, segment_id, change);
        expect(begun).toEqual(told);
        runs += begun.length;
      }
    },
  );
  await fc.assert(property, { seed: SEED, numRuns: SCRIPTS });
  expect(runs).toBeGreaterThan(SCRIPTS);
}, 300_000);
