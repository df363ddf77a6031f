import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { inProject, sql } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import type { Scope } from '../../src/base/db.ts';
import { compile } from '../../src/segments/compile.ts';
import { listUsed } from '../../src/segments/conditions.ts';
import { importPeople, undoImport } from '../../src/segments/import_people.ts';
import type { Condition, Definition } from '../../src/segments/schema.ts';
import { changeSegment, createSegment } from '../../src/segments/segments.ts';
import { definitionOfStatic } from '../../src/segments/static.ts';
import { testDatabase } from '../support/database.ts';
import { workOn } from '../support/work_on.ts';
import { definitionsOf, TODAY } from './arbitrary.ts';
import { listKept, recount, refreshOn } from './recount.ts';
import { perform, steps } from './steps.ts';

const database = testDatabase();
const SEED = 31_337;
const SEGMENTS = 5;
const SCRIPTS = 60;
const HAPPENED_MIN = 6;

const Member = z.strictObject({ profile_id: z.uuid() });

/** Who a definition says is in a segment, of everybody: by counters, or by timelines. */
const listTrue = (
  projectId: string,
  definition: Definition,
  { today, isCounted }: { today: number; isCounted: boolean },
) =>
  inProject(database.deps, projectId, async ({ tx }) => {
    const place = { projectId, today, isCounted: () => isCounted };
    const rows = await tx.any(sql.type(Member)`
      select profile_id from profiles.profiles as profile
      where profile.project_id = ${projectId} and profile.merged_into is null and profile.erasure_id is null
      and ${compile(definition, place)}
      order by profile_id
    `);
    return rows.map(({ profile_id }) => profile_id);
  });

type Told = { profile_id: string; change: string; is_odd: boolean };

/** Who is in a segment, by its history alone: whoever entered and left, one after the other. */
const listTold = async (segmentId: string): Promise<string[]> => {
  const { rows } = await database.owner.query<Told>(
    `select distinct on (profile_id) profile_id, change,
       bool_or(is_odd) over (partition by profile_id) as is_odd
     from (
       select *, change is not distinct from
         coalesce(lag(change) over (partition by profile_id order by entry), 'left') as is_odd
       from segments.history where segment_id = $1
     ) as told
     order by profile_id, entry desc`,
    [segmentId],
  );
  expect(rows.filter(({ is_odd }) => is_odd)).toEqual([]);
  return rows.flatMap(({ profile_id, change }) => (change === 'entered' ? profile_id : []));
};

const person = fc.oneof(
  fc.record({ external_id: fc.constantFrom('ann', 'bob', 'cid') }),
  fc.record({ email: fc.constantFrom('ann@example.com', 'bob@example.com') }),
);
/** What happens to people, to segments and to lists. */
const moves = fc.oneof(
  { weight: 12, arbitrary: steps },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('change' as const), seed: fc.nat() }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('import' as const),
      people: fc.array(person, { minLength: 1, maxLength: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'undo_import' as const }) },
);
type Move = typeof moves extends fc.Arbitrary<infer T> ? T : never;

type Made = { id: string; version: number; definition: Definition };
/** A project: its segments, of which the first is static; its lists; the day that it is there. */
type World = { projectId: string; made: Made[]; lists: string[]; today: number };

const within = <T>({ projectId }: World, work: (scope: Scope) => Promise<T>): Promise<T> =>
  inProject(database.deps, projectId, work);

/** A definition that asks about segments of before; every other one asks about the last of them for certain. */
const sample = (before: readonly Made[], seed: number): Definition => {
  const [given] = fc.sample(definitionsOf(before.map(({ id }) => id)), { seed, numRuns: 1 });
  if (!given) throw new Error('no definition');
  const last = before.at(-1);
  if (!last || seed % 2 === 0) return given;
  const used: Condition = { kind: 'segment', segment_id: last.id };
  return { ...given, where: { kind: seed % 4 === 1 ? 'any' : 'all', of: [used, given.where] } };
};

const makeSegments = async (world: World, seed: number): Promise<void> => {
  for (let at = 0; at <= SEGMENTS; at += 1) {
    const id = newId();
    const isStatic = at === 0;
    const definition = isStatic ? definitionOfStatic(id) : sample(world.made, seed + at);
    await within(world, (scope) =>
      createSegment(scope, {
        segmentId: id,
        name: 'a',
        definition: isStatic ? null : definition,
      }),
    );
    world.made.push({ id, version: 1, definition });
  }
};

const changeOne = async (world: World, seed: number): Promise<void> => {
  const at = 1 + (seed % SEGMENTS);
  const one = world.made[at];
  if (!one) return;
  const definition = sample(world.made.slice(0, at), seed);
  const { version } = one;
  await within(world, (scope) => changeSegment(scope, one.id, { version, definition }));
  Object.assign(one, { version: version + 1, definition });
};

const move = async (world: World, step: Move): Promise<void> => {
  const { projectId, made, lists, today } = world;
  const refresh = () => refreshOn(database, projectId, today);
  const process = () => workOn(database, projectId);
  const [segment] = made;
  switch (step.kind) {
    case 'change':
      await changeOne(world, step.seed);
      return;
    case 'import':
      if (!segment) return;
      lists.push(newId());
      await within(world, (scope) =>
        importPeople(scope, { segmentId: segment.id, importId: lists.at(-1) ?? '' }, step),
      );
      return;
    case 'undo_import': {
      const importId = lists.shift();
      if (importId !== undefined) await within(world, (scope) => undoImport(scope, importId));
      return;
    }
    case 'wait':
      world.today += step.days;
      await refreshOn(database, projectId, world.today);
      return;
    case 'refresh':
      await refresh();
      return;
    default:
      // Two workers at least, for whatever happens at once.
      await perform(database, projectId, step, [process, refresh, process, refresh]);
  }
};

const play = async (world: World, script: readonly Move[]): Promise<void> => {
  for (const step of script) {
    happened.set(step.kind, (happened.get(step.kind) ?? 0) + 1);
    await move(world, step);
  }
};

const some = (maxLength: number) => fc.array(moves, { maxLength });
/** Whether a definition asks about a segment that asks about one. */
const isNested = (made: readonly Made[], definition: Definition): boolean =>
  listUsed(definition).some((id) => {
    const used = made.find((one) => one.id === id);
    return used !== undefined && listUsed(used.definition).length > 0;
  });
const happened = new Map<string, number>();
const total = { members: 0, nested: 0 };

test('members are whoever a full look would find, whatever happened in whatever order', async () => {
  const script = fc.record({ before: some(8), after: some(24), seed: fc.nat() });
  const property = fc.asyncProperty(script, async ({ before, after, seed }) => {
    const world: World = { projectId: newId(), made: [], lists: [], today: TODAY };
    const { projectId, made } = world;
    await play(world, before);
    await makeSegments(world, seed);
    await play(world, after);
    for (let round = 0; round < 10; round += 1) await workOn(database, projectId);
    await refreshOn(database, projectId, world.today);

    const { rows, expected } = await recount(database, projectId);
    expect(rows).toEqual(expected);
    for (const [at, { id, definition }] of made.entries()) {
      const kept = await listKept(database, id);
      for (const isCounted of [true, false])
        expect(await listTrue(projectId, definition, { today: world.today, isCounted })).toEqual(
          kept,
        );
      expect(await listTold(id)).toEqual(kept);
      total.members += kept.length;
      if (at > 2 && isNested(made, definition)) total.nested += kept.length;
    }
  });
  await fc.assert(property, { seed: SEED, numRuns: SCRIPTS });
  expect(total.members).toBeGreaterThan(200);
  // Of those, members of segments that ask about segments that ask about segments.
  expect(total.nested).toBeGreaterThan(20);
  for (const kind of [
    'at_once',
    'change',
    'import',
    'undo_import',
    'wait',
    'undo',
    'erase',
    'lift',
  ])
    expect([kind, (happened.get(kind) ?? 0) >= HAPPENED_MIN]).toEqual([kind, true]);
}, 600_000);
