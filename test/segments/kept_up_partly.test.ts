// One thing happens to people who are known, and the segments are right after it: each change is evaluated for the
// definitions alone that it concerns.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { inProject, sql } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { identify } from '../../src/profiles/identify.ts';
import { compile, compileWakes } from '../../src/segments/compile.ts';
import { importPeople, undoImport } from '../../src/segments/import_people.ts';
import { toDate } from '../../src/segments/moments.ts';
import type { Condition, Definition } from '../../src/segments/schema.ts';
import { createSegment } from '../../src/segments/segments.ts';
import { definitionOfStatic } from '../../src/segments/static.ts';
import { testDatabase } from '../support/database.ts';
import { workOn } from '../support/work_on.ts';
import { definitionsOf, moments, TODAY } from './arbitrary.ts';
import { listKept, refreshOn } from './recount.ts';
import { deeds, perform } from './steps.ts';

const database = testDatabase();
const SEED = 60_126;
const SCRIPTS = 60;
const PEOPLE = ['ann', 'bob', 'cid'] as const;

/** A trait of a person who is known, which the definitions below ask about. */
const told = fc.record({
  kind: fc.constant('identify' as const),
  person: fc.constantFrom(...PEOPLE),
  device: fc.constant(null),
  traits: fc.oneof(
    fc.record({ plan: fc.constantFrom('pro', 'free', null) }),
    fc.record({ renews_at: moments }),
  ),
});

const moves = fc.oneof(
  { weight: 6, arbitrary: told },
  // An erase leaves nothing to be wrong about.
  { weight: 10, arbitrary: deeds.filter(({ kind }) => kind !== 'erase') },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('wait' as const),
      days: fc.integer({ min: 1, max: 9 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('import' as const),
      person: fc.constantFrom(...PEOPLE),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'undo_import' as const }) },
);
type Move = typeof moves extends fc.Arbitrary<infer T> ? T : never;

type World = {
  projectId: string;
  /** Each with its definition; the first is static. */
  segments: { id: string; definition: Definition }[];
  lists: string[];
  today: number;
};

/** One condition of each kind that a change may concern; null stands for the segment before. */
const KINDS: (Condition | null)[] = [
  {
    kind: 'event',
    event: 'order_completed',
    where: [],
    count: { is: 'at_least', value: 1 },
    within_days: 7,
  },
  null,
  { kind: 'trait', trait: 'plan', test: { is: 'equals', value: 'pro' } },
  { kind: 'trait', trait: 'renews_at', test: { is: 'within_last', days: 9 } },
  null,
  {
    kind: 'event_time',
    event: 'page_viewed',
    where: [],
    occurrence: 'last',
    test: { is: 'within_last', days: 5 },
  },
  { kind: 'tag', tag: 'unsubscribed' },
  { kind: 'subscribed' },
  { kind: 'suppressed' },
  null,
];

/** Definitions with a condition of each kind, beside a random one where the seed says so. */
const definitionsFrom = (seed: number, ids: readonly string[]): Definition[] => {
  const [first = ''] = ids;
  return KINDS.map((kind, at): Definition => {
    const [given] = fc.sample(definitionsOf(ids.slice(0, at + 1)), { seed: seed + at, numRuns: 1 });
    if (!given) throw new Error('no definition');
    const own = kind ?? { kind: 'segment' as const, segment_id: ids[at] ?? first };
    const include_suppressed = given.include_suppressed || own.kind === 'suppressed';
    const where: Condition =
      (seed + at) % 3 === 0
        ? own
        : { kind: (seed + at) % 3 === 1 ? 'any' : 'all', of: [own, given.where] };
    return { version: 1, include_suppressed, where };
  });
};

const open = async (seed: number): Promise<World> => {
  const projectId = newId();
  for (const external_id of PEOPLE) {
    const traits = { email: `${external_id}@example.com` };
    await identify(database.deps, { projectId, kind: 'server' }, { external_id, traits });
  }
  const ids = [newId(), ...KINDS.map(() => newId())];
  const [first = ''] = ids;
  const definitions = [definitionOfStatic(first), ...definitionsFrom(seed, ids)];
  const segments = definitions.map((definition, at) => ({ id: ids[at] ?? first, definition }));
  for (const [at, { id, definition }] of segments.entries())
    await inProject(database.deps, projectId, (scope) =>
      createSegment(scope, { segmentId: id, name: 'a', definition: at === 0 ? null : definition }),
    );
  await refreshOn(database, projectId, TODAY);
  return { projectId, segments, lists: [], today: TODAY };
};

const move = async (world: World, step: Move): Promise<void> => {
  const { projectId, segments, lists } = world;
  switch (step.kind) {
    case 'wait':
      world.today += step.days;
      return;
    case 'import':
      lists.push(newId());
      await inProject(database.deps, projectId, (scope) =>
        importPeople(
          scope,
          { segmentId: segments[0]?.id ?? '', importId: lists.at(-1) ?? '' },
          { people: [{ external_id: step.person }] },
        ),
      );
      return;
    case 'undo_import': {
      const importId = lists.shift();
      if (importId !== undefined)
        await inProject(database.deps, projectId, (scope) => undoImport(scope, importId));
      return;
    }
    default:
      await perform(database, projectId, step);
  }
};

const Asked = z.strictObject({
  profile_id: z.uuid(),
  holds: z.array(z.boolean()),
  wake_on: z.string().nullable(),
});

/** Computes anew which segments each person is a member of, and on which day that changes by itself. */
const askAll = ({ projectId, segments, today }: World) =>
  inProject(database.deps, projectId, ({ tx }) => {
    const place = { projectId, today };
    const holds = segments.map(({ definition }) => compile(definition, place));
    const wakes = segments.flatMap(({ definition }) => compileWakes(definition, place));
    return tx.any(sql.type(Asked)`
      select profile_id, array[${sql.join(holds, sql.fragment`, `)}] as holds,
        least(${sql.join([sql.fragment`null::date`, ...wakes], sql.fragment`, `)})::text as wake_on
      from profiles.profiles as profile
      where project_id = ${projectId} and merged_into is null and erasure_id is null
      order by profile_id
    `);
  });

const listWakes = async (projectId: string): Promise<Map<string, string>> => {
  const { rows } = await database.owner.query<{ profile_id: string; wake_on: string }>(
    `select profile_id, (wake_at at time zone 'UTC')::date::text as wake_on from segments.wakeups
     where project_id = $1`,
    [projectId],
  );
  return new Map(rows.map(({ profile_id, wake_on }) => [profile_id, wake_on]));
};

const total = { members: 0, wakes: 0, changes: 0 };

const check = async (world: World, before: string): Promise<string> => {
  const asked = await askAll(world);
  const kept: string[][] = [];
  for (const { id } of world.segments) kept.push(await listKept(database, id));
  const expected = world.segments.map((_, at) =>
    asked.flatMap(({ profile_id, holds }) => (holds[at] ? profile_id : [])),
  );
  expect(kept).toEqual(expected);
  const wakes = await listWakes(world.projectId);
  for (const { profile_id, wake_on } of asked) {
    if (wake_on === null) continue;
    // Never later than it has to be, and never in the past.
    const stored = wakes.get(profile_id) ?? '9999';
    expect([stored <= wake_on, stored > toDate(world.today)]).toEqual([true, true]);
    total.wakes += 1;
  }
  total.members += kept.flat().length;
  const after = JSON.stringify(kept);
  if (after !== before) total.changes += 1;
  return after;
};

test('members and wake-ups are right after each change of people who are known', async () => {
  const script = fc.record({
    steps: fc.array(moves, { minLength: 5, maxLength: 20 }),
    seed: fc.nat(),
  });
  const property = fc.asyncProperty(script, async ({ steps, seed }) => {
    const world = await open(seed);
    let kept = await check(world, '');
    for (const step of steps) {
      await move(world, step);
      await workOn(database, world.projectId);
      await refreshOn(database, world.projectId, world.today);
      kept = await check(world, kept);
    }
  });
  await fc.assert(property, { seed: SEED, numRuns: SCRIPTS });
  expect(total.changes).toBeGreaterThan(200);
  expect(total.wakes).toBeGreaterThan(200);
}, 600_000);
