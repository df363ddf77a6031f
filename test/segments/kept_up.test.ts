import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { inProject, sql } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { compile } from '../../src/segments/compile.ts';
import { Definition } from '../../src/segments/schema.ts';
import { changeSegment } from '../../src/segments/segments.ts';
import { testDatabase } from '../support/database.ts';
import { workOn } from '../support/work_on.ts';
import { definitionsOf, TODAY } from './arbitrary.ts';
import { create, listKept, recount, refreshOn } from './recount.ts';
import { perform, steps } from './steps.ts';
import type { Step } from './steps.ts';

const database = testDatabase();
const SEED = 4_711;
const SEGMENTS = 5;
const SCRIPTS = 60;

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

/** Who is in a segment, by its history alone. */
const listTold = async (segmentId: string): Promise<string[]> => {
  const { rows } = await database.owner.query<{ profile_id: string; change: string }>(
    `select distinct on (profile_id) profile_id, change from segments.history
     where segment_id = $1 order by profile_id, entry desc`,
    [segmentId],
  );
  return rows.flatMap(({ profile_id, change }) => (change === 'entered' ? profile_id : []));
};

const play = async (projectId: string, script: readonly Step[], from: number): Promise<number> => {
  let today = from;
  for (const step of script) {
    if (step.kind === 'wait') today += step.days;
    if (step.kind === 'wait' || step.kind === 'refresh')
      await refreshOn(database, projectId, today);
    else await perform(database, projectId, step);
  }
  return today;
};

const some = (maxLength: number) => fc.array(steps, { maxLength });
const total = { members: 0, entries: 0 };

test('members are whoever a full look would find, whatever happened in whatever order', async () => {
  const script = fc.record({ before: some(8), between: some(12), after: some(12), seed: fc.nat() });
  const property = fc.asyncProperty(script, async ({ before, between, after, seed }) => {
    const projectId = newId();
    await play(projectId, before, TODAY);
    const made: { id: string; definition: Definition }[] = [];
    for (let at = 0; at < SEGMENTS; at += 1) {
      const arbitrary = definitionsOf(made.map(({ id }) => id));
      const [given] = fc.sample(arbitrary, { seed: seed + at, numRuns: 1 });
      if (!given) throw new Error('no definition');
      const row = await create(database, projectId, given.where, given);
      made.push({ id: row.segment_id, definition: Definition.parse(given) });
    }
    let today = await play(projectId, between, TODAY);
    const [changed] = fc.sample(definitionsOf([]), { seed, numRuns: 1 });
    const [first] = made;
    if (first && changed) {
      first.definition = Definition.parse(changed);
      await inProject(database.deps, projectId, (scope) =>
        changeSegment(scope, first.id, { version: 1, definition: first.definition }),
      );
    }
    today = await play(projectId, after, today);
    for (let round = 0; round < 10; round += 1) await workOn(database, projectId);
    await refreshOn(database, projectId, today);

    const { rows, expected } = await recount(database, projectId);
    expect(rows).toEqual(expected);
    for (const { id, definition } of made) {
      const kept = await listKept(database, id);
      for (const isCounted of [true, false])
        expect(await listTrue(projectId, definition, { today, isCounted })).toEqual(kept);
      expect(await listTold(id)).toEqual(kept);
      total.members += kept.length;
    }
  });
  await fc.assert(property, { seed: SEED, numRuns: SCRIPTS });
  expect(total.members).toBeGreaterThan(60);
}, 600_000);
