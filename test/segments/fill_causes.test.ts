// Whatever definitions come and change, at whatever moment somebody is looked at who did not change: whoever comes or
// goes by that does so by a fill, and starts nothing anywhere.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { noteChanges } from '../../src/profiles/profiles.ts';
import type { Condition, Definition } from '../../src/segments/schema.ts';
import { changeSegment, createSegment } from '../../src/segments/segments.ts';
import { testDatabase } from '../support/database.ts';
import { takeTurn } from '../support/refresh_segments.ts';
import { workOn } from '../support/work_on.ts';
import { definitionsOf, TODAY } from './arbitrary.ts';
import { dayAt, refreshOn } from './recount.ts';
import { deeds, perform } from './steps.ts';

const database = testDatabase();
const SEED = 2_718;
const SCRIPTS = 60;
const SEGMENTS = 4;

type Made = { id: string; version: number };

/** A definition that asks about segments of before, of the last of them for certain where there is one. */
const sample = (before: readonly Made[], seed: number): Definition => {
  const [given] = fc.sample(definitionsOf(before.map(({ id }) => id)), { seed, numRuns: 1 });
  if (!given) throw new Error('no definition');
  const last = before.at(-1);
  if (!last) return given;
  const used: Condition = { kind: 'segment', segment_id: last.id };
  return { ...given, where: { kind: seed % 2 === 0 ? 'any' : 'all', of: [used, given.where] } };
};

const moves = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('define' as const), seed: fc.nat() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('rename' as const), seed: fc.nat() }) },
  { weight: 4, arbitrary: fc.constant({ kind: 'turn' as const }) },
  { weight: 4, arbitrary: fc.constant({ kind: 'look' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'refresh' as const }) },
);
type Move = typeof moves extends fc.Arbitrary<infer T> ? T : never;

/** Makes a segment, or gives one of them its next version. */
const define = (projectId: string, made: Made[], seed: number): Promise<unknown> =>
  inProject(database.deps, projectId, async (scope) => {
    const at = seed % SEGMENTS;
    const one = made[at];
    if (!one) {
      const segmentId = newId();
      const definition = sample(made, seed);
      made.push({ id: segmentId, version: 1 });
      return createSegment(scope, { segmentId, name: 'a', definition });
    }
    const definition = sample(made.slice(0, at), seed);
    const changed = await changeSegment(scope, one.id, { version: one.version, definition });
    one.version += 1;
    return changed;
  });

/** Gives one of them another name, which is its next version, too. */
const rename = (projectId: string, made: Made[], seed: number): Promise<unknown> =>
  inProject(database.deps, projectId, async (scope) => {
    const one = made[seed % SEGMENTS];
    if (!one) return null;
    const { version } = one;
    one.version += 1;
    return changeSegment(scope, one.id, { version, name: `a${version}` });
  });

/** Has everybody looked at, as if they had changed. */
const look = async (projectId: string): Promise<void> => {
  const { rows } = await database.owner.query<{ profile_id: string }>(
    'select profile_id from profiles.profiles where project_id = $1',
    [projectId],
  );
  await inProject(database.deps, projectId, (scope) =>
    noteChanges(
      scope,
      rows.map(({ profile_id }) => profile_id),
    ),
  );
};

const play = async (projectId: string, script: readonly Move[]): Promise<void> => {
  const made: Made[] = [];
  for (const step of script) {
    if (step.kind === 'define') await define(projectId, made, step.seed);
    else if (step.kind === 'rename') await rename(projectId, made, step.seed);
    else if (step.kind === 'turn') await takeTurn(database.deps, projectId, dayAt(TODAY));
    else if (step.kind === 'look') await look(projectId);
    else await refreshOn(database, projectId, TODAY);
  }
  await look(projectId);
  await refreshOn(database, projectId, TODAY);
};

const total = { entered: 0, left: 0 };

test('nobody comes or goes but by a fill where nothing happened to anybody', async () => {
  const scripts = fc.record({
    before: fc.array(deeds, { minLength: 4, maxLength: 12 }),
    script: fc.array(moves, { minLength: 16, maxLength: 48 }),
  });
  const property = fc.asyncProperty(scripts, async ({ before, script }) => {
    const projectId = newId();
    for (const deed of before) await perform(database, projectId, deed);
    for (let round = 0; round < 10; round += 1) await workOn(database, projectId);
    await play(projectId, script);
    const { rows } = await database.owner.query<{ cause: string; change: 'entered' | 'left' }>(
      'select cause, change from segments.history where project_id = $1',
      [projectId],
    );
    expect(rows.filter(({ cause }) => cause !== 'fill')).toEqual([]);
    for (const { change } of rows) total[change] += 1;
  });
  await fc.assert(property, { seed: SEED, numRuns: SCRIPTS });
  expect(Math.min(total.entered, total.left)).toBeGreaterThan(20);
}, 300_000);
